"""Run the notebooks of examples/ and keep their outputs: ``python docs/notebooks.py [NAME ...]``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(path: Path) -> dict[str, Any]:
    """The names that the cells of a notebook leave, run here and without Jupyter."""
    names: dict[str, Any] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # noqa: S102
    return names


def executed(path: Path, folder: Path) -> Any:
    """A notebook with the outputs of a run in a folder; an error in a cell is raised."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of the run
        # What a reader prints about a file is for the terminal.
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                if "text/html" in output.get("data", {}):
                    output.data.pop("text/plain", None)  # addresses of objects among it
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def main() -> None:
    """Run some notebooks, or all."""
    import nbformat

    for path in sorted(EXAMPLES.glob("*.ipynb")):
        if len(sys.argv) == 1 or path.stem in sys.argv:
            with TemporaryDirectory() as folder:
                nbformat.write(executed(path, Path(folder)), path)
            print(f"{path.name}: {path.stat().st_size >> 10} kB")  # noqa: T201


if __name__ == "__main__":
    main()
