"""One Markdown page per results folder, and a summary: everything that can be read off the records, in one command."""

from __future__ import annotations

from pathlib import Path

from graphglass.bench.records import Results, result_folders
from graphglass.bench.summary import summary_table
from graphglass.bench.tables import METRIC_TITLES, folder_tables
from graphglass.errors import BenchError
from graphglass.storage.atomic import write_whole


def write_pages(root: str | Path) -> list[Path]:
    """Write ``BENCHMARK-PROTOCOL[-flip].md`` into `root` for every folder with records below it, and ``summary.md``."""
    base = Path(root)
    pages: dict[Path, Results] = {}
    for folder in result_folders(base):
        if not folder.records():
            continue
        purpose = folder.purpose
        path = base / f"{purpose.benchmark}-{purpose.protocol}{'-flip' if purpose.flip else ''}.md"
        if path in pages:
            raise BenchError(f"{pages[path].folder} and {folder.folder} would share the page {path}. Move one away.")
        pages[path] = folder
    for path, folder in pages.items():
        write_whole(path, _page(folder).encode())
    written = list(pages)
    single = {folder.purpose.protocol for folder in pages.values() if folder.purpose.benchmark == "single"}
    summaries = [summary_table(base, protocol).render() for protocol in sorted(single, reverse=True)]
    if summaries:
        path = base / "summary.md"
        write_whole(path, ("# Single-domain results in short\n\n" + "\n".join(summaries)).encode())
        written.append(path)
    return written


def _page(results: Results) -> str:
    """Every metric of a folder; costs are per run, on the machine and under the load of that run."""
    purpose = results.purpose
    # Costs are known per cell; the layouts by variant show quality alone.
    metrics = METRIC_TITLES if purpose.benchmark in ("single", "text") else ("auroc", "auprc", "fpr95")
    parts = [table.render() for metric in metrics for table in folder_tables(results, metric)]
    return "\n".join([f"# {purpose.benchmark}, protocol {purpose.title}\n", *parts])
