"""How every command reads graphs: the same options, and one line about what was skipped or repaired."""

# Annotations are evaluated here: the options of Reading become options of commands in other modules.
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphglass.cli.option_groups import takes
from graphglass.errors import GraphError, InputError

if TYPE_CHECKING:
    from graphglass.detector.reference_detector import ReferenceDetector
    from graphglass.graphs.graph_set import GraphSet
    from graphglass.graphs.readers.rejects import ReadResult


def _option(text: str, *names: str) -> object:
    return typer.Option(*names, help=text, rich_help_panel="Reading graphs")


def _merge_rule(text: str) -> tuple[str, str]:
    name, _, rule = text.rpartition("=")
    if not name:
        raise InputError(f"--merge takes NAME=RULE, such as amount=max; found {text!r}. Name the edge attribute.")
    return name, rule


@dataclass(frozen=True)
class Reading:
    """How the graphs of a command are read; see :func:`reads_graphs`."""

    strict: Annotated[bool, _option("Stop at the first bad record instead of skipping it.", "--strict")] = False
    smiles_column: Annotated[str | None, _option("Column of a molecule table with the SMILES.")] = None
    id_column: Annotated[str | None, _option("Column of a molecule table, or value of an SDF record, with ids.")] = None
    nodes: Annotated[Path | None, _option("The node table of an edge table.")] = None
    graph_column: Annotated[str, _option("Column of an edge table with the graph.", "--graph-id")] = "graph_id"
    source_column: Annotated[str, _option("Column of an edge table with the source node.", "--source")] = "source"
    target_column: Annotated[str, _option("Column of an edge table with the target node.", "--target")] = "target"
    node_label: Annotated[str, _option("Property or column of nodes with their label.")] = "label"
    edge_label: Annotated[str, _option("Property or column of edges with their label.")] = "label"
    ignore: Annotated[list[str] | None, _option("Numeric column that is not compared. Repeatable.")] = None
    use: Annotated[
        list[str] | None, _option("Column to compare although it looks like a time, a date or an id. Repeatable.")
    ] = None
    standardise: Annotated[
        str, _option("What to read of salts and mixtures: none (all of it), largest-fragment or neutral.")
    ] = "none"
    stereo: Annotated[bool, _option("Compare the stereochemistry of molecules.", "--stereo")] = False
    directed: Annotated[
        bool | None, _option("Whether edges have a direction; by default the input decides.", "--directed/--undirected")
    ] = None
    merge: Annotated[
        list[str] | None, _option("How parallel edges combine an attribute: NAME=sum, mean, min or max. Repeatable.")
    ] = None
    fill: Annotated[float | None, _option("Value for missing attributes, instead of skipping the graph.")] = None
    all_rejects: Annotated[bool, _option("List all skipped records, not just the first five.", "--all-rejects")] = False

    def read(
        self, path: Path, *, label_column: str | None = None, detector: "ReferenceDetector | None" = None
    ) -> "GraphSet":
        """The graphs of :meth:`report`."""
        return self.report(path, label_column=label_column, detector=detector).graphs

    def report(
        self,
        path: Path,
        *,
        keep: str | None = None,
        label_column: str | None = None,
        detector: "ReferenceDetector | None" = None,
    ) -> "ReadResult":
        """Read graphs and print to standard error what was skipped and what was repaired.

        Parameters
        ----------
        path : Path
        keep : str, optional
            Columns to carry along, separated by commas, or ``all``.
        label_column : str, optional
            The column with the class of a graph.
        detector : ReferenceDetector, optional
            The model that will score the graphs: they are read as its references were.
        """
        from graphglass.graphs.read import read_report

        settings: dict[str, Any] = {
            item.name: getattr(self, item.name) for item in fields(self) if item.name != "all_rejects"
        }
        settings["merge"] = dict(map(_merge_rule, self.merge or [])) or None
        settings["keep"] = [name.strip() for name in keep.split(",")] if keep and keep != "all" else keep
        settings["label_column"] = label_column
        if detector is not None:
            settings["reading"] = detector.scorer_.reading
        result = read_report(path, **settings)
        summary = result.summary(None if self.all_rejects else 5)
        if not len(result.graphs):
            found = "; ".join(result.notes) or (summary if result.rejects else "it holds none")
            raise GraphError(f"No graph could be read from {path}: {found}")
        for note in result.notes:
            typer.echo(f"{path}: {note}", err=True)
        if result.rejects:
            typer.echo(summary, err=True)
        if label_column is not None and result.graphs.labels is None:
            told = [note.partition(";")[0] for note in result.notes if "class label" in note]
            raise InputError(
                f"--label-column {label_column} must give every graph in {path} a class: "
                f"{told[0] if told else 'some have none'}. Fill the column, or take those graphs out."
            )
        loops, repeated, _ = result.graphs.removed.sum(axis=0)
        if loops or repeated:
            kept = "merged" if "count" in result.graphs.edge_attribute_names else "removed"
            repairs = [f"self-loops ({loops}) were removed"] if loops else []
            repairs += [f"repeated edges ({repeated}) were {kept}"] if repeated else []
            typer.echo(f"{path}: {', '.join(repairs)}", err=True)
        return result

    def refuse_with_cluster(self) -> None:
        """Workers read parts by themselves and support only --strict."""
        if self != Reading(strict=self.strict):
            raise InputError("With --cluster, --strict is the only option for reading graphs. Leave the others out.")

    def refuse_nodes_with(self, option: str, second: Path | None) -> None:
        """A node table lists the graphs of one edge table; read with another it would give graphs without edges."""
        if second is not None and self.nodes is not None:
            raise InputError(f"--nodes belongs to one edge table, but {option} is a second input. Use another format.")


reads_graphs = takes("reading", Reading)
"""Give a command the options of :class:`Reading`, which reach it together as its parameter ``reading``."""
