"""glass demo: the whole job on the bundled molecules."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from graphglass.errors import InputError
from graphglass.messages import counted

app = typer.Typer()

NORMAL = 1  # MUTAG's larger class


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Directory for the model, scores and report.")] = Path(
        "demo-output"
    ),
    seeds: Annotated[int, typer.Option(min=1, help="Random splits to average the AUROC over.")] = 5,
) -> None:
    """Fit on MUTAG's normal molecules, rank held-out ones, print the AUROC over several splits and write a report.

    Labels are used only to make the split and to compute the AUROC afterwards.
    """
    from sklearn.metrics import roc_auc_score

    from graphglass.cli.rows import show_ranking
    from graphglass.detector.graphglass import GraphGlass
    from graphglass.drawing.charts import rankings
    from graphglass.files.output_file import write_file
    from graphglass.graphs.datasets import load_dataset
    from graphglass.report.page import write_report

    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is a file. Name a directory for the model, scores and report.")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{output} cannot be made: {error.strerror}. Name another directory with -o.") from error
    molecules = load_dataset("MUTAG")
    assert molecules.labels is not None
    areas, area = [], None
    for seed in range(seeds):
        references, test = _split(molecules.labels, seed)
        detector = GraphGlass().fit(molecules[references].without_labels())
        held_out, anomalous = molecules[test].without_labels(), molecules.labels[test] != NORMAL
        scores = detector.decision_function(held_out)
        areas.append(float(roc_auc_score(anomalous, scores)))
        counts = f"{len(references)} normal molecules, {len(test)} held out"
        typer.echo(f"split {seed + 1} of {seeds}: {counts}, AUROC {areas[-1]:.3f}")
        if seed == 0:
            table = detector.score_table(held_out)
            detector.save(output / "model")
            table.to_csv(output / "scores.csv")
            write_report(detector, table, output / "report.html")
            show_ranking(table, None, top=10)
            if find_spec("torch") is not None:
                from graphglass.glass.estimator import GLASS

                other = GLASS.pretrained("mol").fit(molecules[references].without_labels())
                glass = other.decision_function(held_out)
                rows = {"GraphGlass": anomalous[np.argsort(-scores)], "GLASS": anomalous[np.argsort(-glass)]}
                write_file(output / "rankings.svg", rankings(rows).encode())
                area = float(roc_auc_score(anomalous, glass))
    spread = f" (standard deviation {np.std(areas, ddof=1):.3f})" if seeds > 1 else ""
    typer.echo(f"AUROC {np.mean(areas):.3f} on average over {counted(seeds, 'split')}{spread}.")
    told = "model, scores.csv and report.html"
    if area is not None:
        typer.echo(f"First split: GraphGlass {areas[0]:.3f}, GLASS with the pretrained encoder `mol` {area:.3f}.")
        told = "model, scores.csv, report.html and rankings.svg"
    else:
        typer.echo("GLASS is left out: it needs pip install 'graphglass[glass]'.")
    typer.echo(f"The first split's {told} are in {output}/")


def _split(labels: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of four fifths of the normal molecules, and of all others."""
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(labels == NORMAL))
    return rows[: len(rows) * 4 // 5], np.setdiff1d(np.arange(len(labels)), rows[: len(rows) * 4 // 5])
