"""The measured limits: graphs, references and workers, from a thousand to a million.

    python benchmarks/scale.py [--cells graphs,stages,workers,references,channels] [--work DIR]

Every finished cell is one record of results/benchmarks/scale.json; a rerun measures what is missing. The work folder
(several gigabytes) holds the generated parts, the model and the scores. `workers` wants a machine with two idle cores.
`python benchmarks/scale_page.py` draws the figures and fills docs/scale.md.
"""

import argparse
import json
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from threadpoolctl import threadpool_limits

from graphglass import GLASS, read_graphs
from graphglass.cluster import connect, score_parts
from graphglass.cluster.work import model_digest, score_columns
from graphglass.detector.views import text_anchors
from graphglass.scoring.calibration import conformal_p_values
from graphglass.structure.profile import profile
from scale_graphs import molecules, write_part

PART = 20_000
MODEL_REFERENCES = 1_000


class Records:
    """The results file: one record per cell, replaced as a whole."""

    def __init__(self, path):
        self.path = path
        self.rows = json.loads(path.read_text()) if path.exists() else []

    def __contains__(self, cell):
        return any(row["cell"] == cell for row in self.rows)

    def add(self, cell, **values):
        row = {"cell": cell, **{name: rounded(value) for name, value in values.items()}}
        self.rows = sorted([*self.rows, row], key=lambda item: item["cell"])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.rows, indent=1) + "\n")
        temporary.rename(self.path)
        print(row, flush=True)


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    return round(value, 4) if isinstance(value, float) else value


class Watch:
    """What this process and all below it used: resident memory at its highest, sampled (shared pages count twice), and
    seconds of processor time, which other work on the machine does not change much."""

    def __enter__(self):
        self.total, self.largest, self._stop = 0.0, 0.0, threading.Event()
        self._before = cpu_seconds()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.cpu = cpu_seconds() - self._before
        self._stop.set()
        self._thread.join()

    def _watch(self):
        me = psutil.Process()
        while not self._stop.wait(0.25):
            sizes = []
            for process in [me, *me.children(recursive=True)]:
                try:
                    sizes.append(process.memory_info().rss / 2**20)
                except psutil.NoSuchProcess:
                    continue
            self.total, self.largest = max(self.total, sum(sizes)), max(self.largest, *sizes)


def cpu_seconds():
    me = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in [me, *me.children(recursive=True)])


class Place:
    """The work folder: generated parts, the model, the scores."""

    def __init__(self, folder, data_root):
        self.folder, self.data_root = folder, data_root
        folder.mkdir(parents=True, exist_ok=True)
        self._base = None

    @property
    def base(self):
        if self._base is None:
            self._base = molecules(self.data_root)
        return self._base

    @property
    def model(self):
        """A detector with a thousand real molecules as references."""
        path = self.folder / "model"
        if not path.exists():
            chosen = np.sort(np.random.default_rng(0).choice(len(self.base), MODEL_REFERENCES, replace=False))
            GLASS(random_state=0).fit(self.base[chosen]).save(path)
        return path

    def parts(self, first, last, size=PART):
        return [write_part(self.base, self.folder / "parts", number, size) for number in range(first, last)]


def busy():
    """Cores that others use, from the system's load of the last minute; a figure is read with it in mind."""
    return round(os.getloadavg()[0], 2)


def warm_up(client, place):
    """Every worker loads the model and its compiled code."""
    model, part = str(place.model), place.parts(0, 1, 100)[0]
    client.run(lambda: score_columns(read_graphs(part, cache=False), model, model_digest(model)))


def measure_graphs(place, records, most):
    """Parts to score files on two workers: 10^3 to 10^6 graphs, the last as ten runs of 10^5."""
    model = place.model
    plan = [("graphs/1000", place.parts(0, 1, 1_000)), ("graphs/10000", place.parts(0, 1, 10_000))]
    plan += [(f"graphs/100000/{i}", place.parts(5 * i, 5 * i + 5)) for i in range(most // 100_000)]
    for cell, parts in plan:
        if cell in records:
            continue
        output = place.folder / "scores" / cell.replace("/", "-")
        shutil.rmtree(output, ignore_errors=True)
        with connect("local", 2) as client:
            warm_up(client, place)
            start, load = time.perf_counter(), busy()
            with Watch() as watch:
                outcomes = score_parts(client, model, parts, output)
            seconds = time.perf_counter() - start
        assert not [outcome.error for outcome in outcomes if outcome.error]
        graphs = sum(outcome.graphs for outcome in outcomes)
        records.add(
            cell, graphs=graphs, references=MODEL_REFERENCES, seconds=seconds, cpu_seconds=watch.cpu, load=load,
            rate=graphs / seconds, cpu_rate=graphs / watch.cpu,
            total_memory_mb=watch.total, largest_process_mb=watch.largest,
            bytes_in=sum(part.stat().st_size for part in parts),
            bytes_out=sum(Path(outcome.part.output).stat().st_size for outcome in outcomes),
        )  # fmt: skip


def measure_stages(place, records):
    """Seconds of processor time per stage for one part, in this process."""
    if "stages" in records:
        return
    path = place.parts(0, 1)[0]
    detector = GLASS.load(place.model)
    detector.decision_function(read_graphs(path, cache=False)[:10])
    spent = {}

    def stage(name, work):
        start = time.process_time()
        value = work()
        spent[name] = spent.get(name, 0.0) + time.process_time() - start
        return value

    graphs = stage("read", lambda: read_graphs(path, cache=False))
    structure = stage("profile", lambda: profile(graphs))
    anchors = stage("text codes", lambda: text_anchors(detector.views_.text, structure, detector.domain))
    evidence = stage("graph codes", lambda: detector.views_.evidence_from(graphs, structure, anchors))
    distances = {}
    for channel in detector.scorer_.channels:
        kind = channel.name.split(":")[0]
        kind = {"graph": "sphere channels", "text": "sphere channels", "pattern": "pattern channels"}.get(
            kind, "table channels"
        )
        distances[channel.name] = stage(kind, lambda: channel.distances(evidence)[0])  # noqa: B023
    scores = np.sum(list(detector.scorer_.fusion.contributions(distances).values()), axis=0)
    with tempfile.TemporaryDirectory() as folder:
        p_values = conformal_p_values(scores, detector.decision_scores_)
        columns = {"id": list(graphs.ids), "score": scores, "p_value": p_values}
        stage("write", lambda: pq.write_table(pa.table(columns), Path(folder) / "scores.parquet"))
    records.add(
        "stages", graphs=len(graphs), references=MODEL_REFERENCES, nodes=graphs.node_count, edges=graphs.edge_count,
        cpu_seconds=spent, rate={name: len(graphs) / seconds for name, seconds in spent.items()},
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="graphs,stages")
    parser.add_argument("--data-root", default=None)
    parser.add_argument("--most-graphs", type=int, default=1_000_000)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "graphglass-scale")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/scale.json"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    place, records = Place(arguments.work, arguments.data_root), Records(arguments.output)
    chosen = arguments.cells.split(",")
    with threadpool_limits(1):  # as on the workers
        if "graphs" in chosen:
            measure_graphs(place, records, arguments.most_graphs)
        if "stages" in chosen:
            measure_stages(place, records)


if __name__ == "__main__":
    main()
