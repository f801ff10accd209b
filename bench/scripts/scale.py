"""The measured limits: graphs and references, from a thousand to a million.

    python bench/scripts/scale.py [--cells graphs,alone,stages,exact,large] [--work DIR]

Every finished cell is one record of bench/results/benchmarks/scale.json; a rerun measures what is missing. The work
folder holds the generated parts, the model and the scores. `python bench/scripts/scale_page.py` draws the figures and
fills docs/scale.md.
"""

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from graphglass import GraphGlass, ReferenceDetector, read_graphs
from graphglass.channels.calibration import conformal_p_values
from graphglass.channels.default_channels import default_channels
from graphglass.channels.fusion import SHARPNESS, fit_fusion
from graphglass.channels.nearest_references import smallest_mean
from graphglass.channels.profiled_graphs import ProfiledGraphs, measure_graphs
from graphglass.cluster import connect, score_parts
from graphglass.cluster.parts import _detector
from graphglass.detector.scorer import TOGETHER, ReferenceScorer
from graphglass.files.atomic import write_whole
from graphglass.files.load import artifact_digest
from graphglass.graphs.concatenation import concatenate
from scale_graphs import molecules, part, planted, write_part

PART = 20_000
MODEL_REFERENCES = 1_000
REPEATS = 3
COMPARED = 3  # nearest references that recall counts


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
        write_whole(self.path, (json.dumps(self.rows, indent=1) + "\n").encode())
        print(row, flush=True)


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    return float(f"{value:.5g}") if isinstance(value, float) else value


class Watch:
    """What this process and all below it used: resident memory at its highest, sampled (shared pages count twice), what
    of it is in no file, and seconds of processor time, which other work on the machine does not change much."""

    def __enter__(self):
        self.total, self.largest, self.held, self._stop = 0.0, 0.0, 0.0, threading.Event()
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
            sizes, held = [], []
            for process in [me, *me.children(recursive=True)]:
                try:
                    used = process.memory_info()
                except psutil.NoSuchProcess:
                    continue
                sizes.append(used.rss / 2**20)
                held.append((used.rss - used.shared) / 2**20)
            self.total, self.largest = max(self.total, sum(sizes)), max(self.largest, *sizes)
            self.held = max(self.held, *held)


def cpu_seconds():
    me = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in [me, *me.children(recursive=True)])


def timed(work, repeats=1):
    """Seconds of processor time, the least of the repeats, and what the work returned.

    Other work on the machine slows even the processor's time, by taking the caches; the least is least disturbed.
    """
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        value = work()
        best = min(best, time.process_time() - start)
    return best, value


class Place:
    """The work folder: generated parts, the model, the scores."""

    def __init__(self, folder, data_root):
        self.folder, self.base = folder, molecules(data_root)
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def model(self):
        """A detector with a thousand real molecules as references."""
        path = self.folder / "model"
        if not path.exists():
            chosen = np.sort(np.random.default_rng(0).choice(len(self.base), MODEL_REFERENCES, replace=False))
            GraphGlass().fit(self.base[chosen]).save(path)
        return path

    def parts(self, first, last, size=PART):
        return [write_part(self.base, self.folder / "parts", number, size) for number in range(first, last)]


def busy():
    """Cores that others use, from the system's load of the last minute; a figure is read with it in mind."""
    return round(os.getloadavg()[0], 2)


def warm_up(client, place):
    """Every worker loads the model and its compiled code."""
    model, part = str(place.model), place.parts(0, 1, 100)[0]
    client.run(lambda: _detector(model, artifact_digest(model)).score_table(read_graphs(part)))


def measure_graphs_scored(place, records, most):
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


def measure_alone(place, records, count=100_000):
    """Processor time of the command `glass score` on one file, reasons of the most abnormal graphs included."""
    if "alone" in records:
        return
    ranked = place.folder / "ranked.parquet"
    command = [Path(sys.executable).with_name("glass"), "score", place.model, *place.parts(0, 1, count)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "-o", ranked, "-q", "--top", "0"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    records.add("alone", graphs=count, references=MODEL_REFERENCES, cpu_seconds=seconds, cpu_rate=count / seconds)


def measure_stages(place, records):
    """Seconds of processor time per stage for one part, in this process."""
    if "stages" in records:
        return
    path = place.parts(0, 1)[0]
    detector = ReferenceDetector.load(place.model)
    detector.decision_function(read_graphs(path)[:10])
    spent = {}

    def stage(name, work):
        seconds, value = timed(work, REPEATS)
        spent[name] = spent.get(name, 0.0) + seconds
        return value

    graphs = stage("read", lambda: read_graphs(path))
    profiled = stage("profile", lambda: measure_graphs(graphs))
    parts = [profiled[i : i + TOGETHER] for i in range(0, len(profiled), TOGETHER)]  # as a detector reads them
    distances = {}
    for channel in detector.scorer_.channels:
        rows = stage("rows", lambda: [channel.encode(part) for part in parts])  # noqa: B023
        found = stage(kind_of(channel.name), lambda: [channel.distances(some) for some in rows])  # noqa: B023
        distances[channel.name] = np.concatenate(found)
    scores = stage("fusion", lambda: detector.scorer_.fusion.scores(distances))
    with tempfile.TemporaryDirectory() as folder:
        p_values = conformal_p_values(scores, detector.decision_scores_)
        columns = {"id": list(graphs.ids), "score": scores, "p_value": p_values}
        stage("write", lambda: pq.write_table(pa.table(columns), Path(folder) / "scores.parquet"))
    records.add(
        "stages", graphs=len(graphs), references=MODEL_REFERENCES, nodes=graphs.node_count, edges=graphs.edge_count,
        cpu_seconds=spent, rate={name: len(graphs) / seconds for name, seconds in spent.items()},
    )  # fmt: skip


def kind_of(channel):
    return "patterns" if channel.startswith("patterns") else "tables"


def measure_exact(place, records):
    """Exact search: what a query costs by kind of channel, what calibration costs, and what the channels hold."""
    queries = measure_graphs(part(place.base, 1_000, 200))
    for count in (1_000, 10_000):
        cell = f"exact/{count}"
        if cell in records:
            continue
        references = measure_graphs(concatenate([part(place.base, 2_000 + i, 1_000) for i in range(count // 1_000)]))
        costs = {"patterns": [0.0] * 3, "tables": [0.0] * 3}
        for channel in default_channels():
            calibration, _ = timed(lambda: channel.fit(references))  # noqa: B023
            if not channel.has_data:
                continue
            rows = channel.encode(queries)
            seconds, _ = timed(lambda: channel.distances(rows), REPEATS)  # noqa: B023
            found = costs[kind_of(channel.name)]
            for i, value in enumerate((1000 * seconds / len(queries), calibration, array_bytes(channel) / 2**20)):
                found[i] += value
            print(channel.name, f"{calibration:.2f} s", flush=True)
        names = ("ms_per_query", "calibration_seconds", "megabytes")
        records.add(
            cell, references=count, queries=len(queries),
            kinds={kind: dict(zip(names, found, strict=True)) for kind, found in costs.items()},
        )  # fmt: skip


def array_bytes(owner, seen=None):
    """Bytes of all arrays an object holds, however deep."""
    seen = set() if seen is None else seen
    if id(owner) in seen:
        return 0
    seen.add(id(owner))
    if isinstance(owner, np.ndarray):
        return owner.nbytes
    if isinstance(owner, list | tuple):
        return sum(array_bytes(item, seen) for item in owner)
    return sum(array_bytes(item, seen) for item in getattr(owner, "__dict__", {}).values())


def measure_large(place, records, most):
    """Indexed detectors: built, saved, asked, compared with exact search on planted anomalies, loaded elsewhere."""
    for count in (size for size in (100_000, 1_000_000) if size <= most):
        cell, path = f"large/{count}", place.folder / f"large-{count}"
        if cell in records:
            continue
        normals, queries, anomalous = planted(place.base, count)
        facts = build_large(normals, queries, anomalous, path)
        with multiprocessing.get_context("spawn").Pool(1) as fresh:
            facts |= fresh.apply(in_service, (path, queries))
        records.add(cell, references=count, **facts)


def build_large(normals, queries, anomalous, path):
    with Watch() as watch:
        profiling, references = timed(lambda: measure_graphs(normals))
        print(f"{len(normals)} references profiled in {profiling:.1f} s", flush=True)
        building, detector = timed(lambda: GraphGlass().fit(references))
    print(f"built in {building:.1f} s, {watch.held:.0f} of {watch.largest:.0f} MB in no file", flush=True)
    saving, _ = timed(lambda: detector.save(path))
    detector.decision_function(queries[:5])
    asking, scores = timed(lambda: detector.decision_function(queries), REPEATS)
    print(f"{1000 * asking / len(queries):.2f} ms a query", flush=True)
    facts = {
        "build_seconds": profiling + building, "saving_seconds": saving,
        "building_memory_mb": watch.held, "building_resident_mb": watch.largest,
        "model_bytes": sum(file.stat().st_size for file in path.iterdir()),
        "index": detector.scorer_.index.facts(), "candidates": detector.scorer_.candidate_count,
        "queries": len(queries), "ms_per_query": 1000 * asking / len(queries),
        "auroc": 100 * roc_auc_score(anomalous, scores),
    }  # fmt: skip
    return facts | against_exact(detector, queries, anomalous)


def in_service(path, queries):
    """What a process that loads the model and scores needs: memory at its highest and afterwards, and seconds."""
    with Watch() as watch:
        loading, detector = timed(lambda: ReferenceDetector.load(path))
        detector.decision_function(queries)
        used = psutil.Process().memory_info()
    return {
        "loading_seconds": loading, "loading_memory_mb": watch.held,
        "serving_memory_mb": (used.rss - used.shared) / 2**20,
    }  # fmt: skip


def compared_with_all(scorer, fusion):
    """A scorer of the same channels that compares a query with every reference."""
    whole = ProfiledGraphs(scorer.graphs, None)  # only counted: the channels hold the rows
    return ReferenceScorer(whole, scorer.channels, fusion, scorer.reference_scores, scorer.schema)


def against_exact(detector, queries, anomalous, calibrated=500, compared=200):
    """The same channels with every reference as a candidate: AUROC, query time and recall of the nearest references.

    Local scales are those of the indexed detector. Calibration is exact, on some of its references.
    """
    scorer, references = detector.scorer_, detector.references_
    profiled = detector._queries(queries, scorer)
    some = np.linspace(0, len(references) - 1, min(calibrated, len(references))).astype(np.int64)
    places, left_out = scorer.calibrated[some], {}
    for channel in scorer.channels:
        values, rows = np.empty(len(some)), channel.encode(references[some])
        for first in range(0, len(some), 50):
            block = channel.compare(rows[first : first + 50], channel.references) / channel.reference_scales
            block[np.arange(len(block)), places[first : first + 50]] = np.inf
            values[first : first + 50] = smallest_mean(block, channel.k)
        left_out[channel.name] = values
        print(f"{channel.name}: calibrated exactly", flush=True)
    exact = compared_with_all(scorer, fit_fusion(left_out, scorer.fusion.weights, SHARPNESS))
    asking, scores = timed(lambda: exact.scores(profiled))
    # The indexed search with as few calibrated references, so that the search alone makes the difference.
    few = {channel.name: channel.left_out[some] for channel in scorer.channels}
    alike = replace(scorer, fusion=fit_fusion(few, scorer.fusion.weights, SHARPNESS)).scores(profiled)
    asked = profiled[np.linspace(0, len(queries) - 1, compared).astype(np.int64)]
    near, same = scorer.search(asked), compared_with_all(scorer, scorer.fusion)
    everything = np.arange(len(scorer.graphs))
    shares = []
    for i in range(len(asked)):
        distances = same.fused_distances(asked[[i]], everything)[0]
        worst = np.sort(distances)[COMPARED - 1]
        # Equal distances count as found.
        shares.append(min(int((distances[near[i]] <= worst + 1e-6).sum()), COMPARED) / COMPARED)
    return {
        "exact_ms_per_query": 1000 * asking / len(queries), "exact_auroc": 100 * roc_auc_score(anomalous, scores),
        "alike_auroc": 100 * roc_auc_score(anomalous, alike),
        "recall": float(np.mean(shares)), "recall_at": COMPARED,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="graphs,alone,stages,exact,large")
    parser.add_argument("--data-root", default=None)
    parser.add_argument("--most-graphs", type=int, default=100_000)
    parser.add_argument("--most-references", type=int, default=100_000)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "graphglass-scale")
    parser.add_argument("--output", type=Path, default=Path("bench/results/benchmarks/scale.json"))
    arguments = parser.parse_args()
    place, records = Place(arguments.work, arguments.data_root), Records(arguments.output)
    chosen = arguments.cells.split(",")
    with threadpool_limits(1):  # as on the workers
        if "graphs" in chosen:
            measure_graphs_scored(place, records, arguments.most_graphs)
        if "alone" in chosen:
            measure_alone(place, records)
        if "stages" in chosen:
            measure_stages(place, records)
        if "exact" in chosen:
            measure_exact(place, records)
        if "large" in chosen:
            measure_large(place, records, arguments.most_references)


if __name__ == "__main__":
    main()
