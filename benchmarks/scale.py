"""The measured limits: graphs, references and workers, from a thousand to a million.

    python benchmarks/scale.py [--cells graphs,stages,channels,references,large,workers] [--work DIR]

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
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from threadpoolctl import threadpool_limits

from graphglass import GLASS, read_graphs
from graphglass.channels.calibration import conformal_p_values
from graphglass.channels.codes import CodeChannel
from graphglass.channels.patterns import pattern_channel as wl
from graphglass.channels.profiled_graphs import ProfiledGraphs, join_profiled
from graphglass.channels.tables import table_channel as tables
from graphglass.cluster import connect, score_parts
from graphglass.cluster.part_work import score_columns
from graphglass.detector.large_references import index_references
from graphglass.detector.reference_scorer import build_channels
from graphglass.embedding.embedder import text_anchors
from graphglass.sphere.neighbours import nearest_in_shards
from graphglass.sphere.reference_index import ReferenceIndex
from graphglass.storage.load import artifact_digest
from graphglass.structure.profile import profile
from scale_graphs import molecules, part, write_part

PART = 20_000
MODEL_REFERENCES = 1_000
REPEATS = 3


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
    return float(f"{value:.5g}") if isinstance(value, float) else value


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

    def references(self, number):
        """Part ``number`` of the endless reference set with its codes, which are kept once they are computed."""
        graphs = part(self.base, 10_000 + number, PART)
        file = self.folder / "codes" / f"{number:04d}.npz"
        if not file.exists():
            detector = GLASS.load(self.model)
            file.parent.mkdir(parents=True, exist_ok=True)
            temporary = file.with_suffix(".tmp.npz")
            seconds, evidence = timed(lambda: detector.embedder_.embed(graphs))
            np.savez(temporary, seconds=seconds, **evidence.codes)
            temporary.rename(file)
        with np.load(file) as stored:
            codes = {name: stored[name] for name in stored.files if name != "seconds"}
            return ProfiledGraphs(graphs, profile(graphs), codes), float(stored["seconds"])

    def rows(self, count, code="graph:128"):
        """A file of ``count`` reference codes of one kind."""
        path = self.folder / "rows" / f"{count}.npy"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            pieces = [self.references(i)[0].codes[code] for i in range(-(-count // PART))]
            np.save(path, np.concatenate(pieces)[:count])
        return path

    def parts(self, first, last, size=PART):
        return [write_part(self.base, self.folder / "parts", number, size) for number in range(first, last)]


def busy():
    """Cores that others use, from the system's load of the last minute; a figure is read with it in mind."""
    return round(os.getloadavg()[0], 2)


def warm_up(client, place):
    """Every worker loads the model and its compiled code."""
    model, part = str(place.model), place.parts(0, 1, 100)[0]
    client.run(lambda: score_columns(read_graphs(part, cache=False), model, artifact_digest(model)))


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
        seconds, value = timed(work, REPEATS)
        spent[name] = spent.get(name, 0.0) + seconds
        return value

    graphs = stage("read", lambda: read_graphs(path, cache=False))
    structure = stage("profile", lambda: profile(graphs))
    anchors = stage("text codes", lambda: text_anchors(detector.embedder_.text, structure, detector.domain))
    evidence = stage("graph codes", lambda: detector.embedder_.embed_profiled(graphs, structure, anchors))
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


def measure_channels(place, records):
    """What a query costs in every kind of channel, and what the channel holds, by the number of references.

    Calibration is timed where it is feasible; past that the channels are fitted without it, since its cost grows with
    the square of the references.
    """
    queries = part(place.base, 1_000, 200)
    for count in (1_000, 10_000, 20_000, 100_000):
        cell = f"channels/{count}"
        if cell in records:
            continue
        detector = GLASS.load(place.model)
        asked = detector.embedder_.embed(queries)
        parts = [part(place.base, 2_000 + i, min(count, 10_000)) for i in range(max(1, count // 10_000))]
        evidence = join_profiled([detector.embedder_.embed(graphs) for graphs in parts])
        channels = {}
        for channel in build_channels(detector.settings_, detector.embedder_.slices):
            calibrated = count <= 10_000
            if isinstance(channel, CodeChannel):
                channel.fit(evidence)
                calibration = timed(channel.leave_one_out)[0] if calibrated else None
                held = channel.rows.nbytes
            else:
                with uncalibrated() if not calibrated else nullcontext():
                    fitting = timed(lambda: channel.fit(evidence))[0]  # noqa: B023
                if channel.silent:
                    continue
                calibration = fitting if calibrated else None
                held = array_bytes(channel)
            seconds = timed(lambda: channel.distances(asked), REPEATS)[0]  # noqa: B023
            channels[channel.name] = {
                "ms_per_query": 1000 * seconds / len(asked),
                "calibration_seconds": calibration,
                "megabytes": held / 2**20,
            }
        records.add(cell, references=count, queries=len(asked), channels=channels)


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


@contextmanager
def uncalibrated():
    """Fit a channel without comparing its references with each other."""
    modules = (tables, wl)
    kept = [module.left_out_means for module in modules]
    for module in modules:
        module.left_out_means = lambda metric, k, locality, count: (np.zeros(count), np.ones(count))
    try:
        yield
    finally:
        for module, function in zip(modules, kept, strict=True):
            module.left_out_means = function


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


def measure_references(place, records, most):
    """Search of one code among 10^3 to 10^6 references: exact, a neighbour graph, inverted lists."""
    queries = GLASS.load(place.model).channel_embeddings(part(place.base, 1_000, 1_000))["graph:128"]
    k = 3
    for count in (size for size in (1_000, 10_000, 100_000, 1_000_000) if size <= most):
        rows = place.rows(count)
        exact = None
        for kind in ("flat", "hnsw", "ivf"):
            cell = f"references/{count}/{kind}"
            if cell in records:
                continue
            spent, index = timed(lambda: ReferenceIndex.build(rows, k, kind=kind))  # noqa: B023
            searching, (found, _) = timed(lambda: index.nearest(queries, k), REPEATS)  # noqa: B023
            if exact is None:
                exact = nearest_in_shards(queries, [np.load(rows, mmap_mode="r")], k)[0]
            records.add(
                cell, references=count, kind=kind, code="graph:128", k=k, build_seconds=spent,
                ms_per_query=1000 * searching / len(queries), effort=index.effort, recall_on_references=index.recall,
                recall_on_queries=float((found >= exact[:, -1:] - 1e-6).mean()), bytes=index.path.stat().st_size,
            )  # fmt: skip


def measure_large(place, records, most):
    """A whole detector with very many references: made, saved, loaded by two processes at once, asked."""
    for count in (size for size in (1_000_000, 100_000) if size <= most):
        cell, path = f"large/{count}", place.folder / f"large-{count}"
        if cell in records:
            continue
        with Watch() as watch:
            made = make_large(place, count, path)
        with connect("local", 2) as client:
            answers = client.run(_ask, str(path), str(place.parts(0, 1, 1_000)[0]))
        first, second = answers.values()
        assert np.array_equal(first.pop("scores"), second.pop("scores"))
        records.add(
            cell, references=count, **made, building_memory_mb=watch.largest,
            index_bytes=sum(file.stat().st_size for file in path.glob("index_*")),
            model_bytes=sum(file.stat().st_size for file in path.iterdir()), processes=[first, second],
        )  # fmt: skip


def make_large(place, count, path):
    """Save a detector with ``count`` references; what each step took."""
    detector = GLASS.load(place.model)
    encoding, reading = [], []

    def parts():
        for number in range(count // PART):
            seconds, (evidence, encoded) = timed(partial(place.references, number))
            reading.append(seconds)
            encoding.append(encoded)
            yield evidence

    indexing, large = timed(lambda: index_references(parts(), count, detector.settings_.k))
    calibrating, _ = timed(lambda: detector._refer_to(large))
    saving, _ = timed(lambda: detector.save(path))
    return {
        "encoding_seconds": sum(encoding), "indexing_seconds": indexing - sum(reading),
        "calibrating_seconds": calibrating, "saving_seconds": saving,
        "index": {name: index.facts() for name, index in large.indexes.items()},
    }  # fmt: skip


def _ask(model, queries):
    """In a worker: load, score, and say what it took; shared memory is counted by its share (PSS)."""
    graphs = read_graphs(queries, cache=False)
    loading, detector = timed(lambda: GLASS.load(model))
    detector.decision_function(graphs[:5])
    scoring, scores = timed(lambda: detector.decision_function(graphs), REPEATS)
    spherical = [channel for channel in detector.scorer_.channels if isinstance(channel, CodeChannel)]
    evidence = detector.embedder_.embed(graphs)
    searching = timed(lambda: [channel.distances(evidence) for channel in spherical], REPEATS)[0]
    memory = psutil.Process().memory_full_info()
    return {
        "loading_seconds": loading, "scoring_seconds": scoring, "sphere_seconds": searching, "graphs": len(graphs),
        "rss_mb": memory.rss / 2**20, "own_mb": memory.uss / 2**20, "pss_mb": memory.pss / 2**20, "scores": scores,
    }  # fmt: skip


def measure_workers(place, records):
    """One against two workers on the same parts, twice each; wants two idle cores."""
    for attempt in range(2):
        for workers in (1, 2):
            cell = f"workers/{workers}/{attempt}"
            if cell in records:
                continue
            parts = place.parts(100, 106, 5_000)
            output = place.folder / "scores" / cell.replace("/", "-")
            shutil.rmtree(output, ignore_errors=True)
            with connect("local", workers) as client:
                warm_up(client, place)
                start, load = time.perf_counter(), busy()
                with Watch() as watch:
                    outcomes = score_parts(client, place.model, parts, output)
                seconds = time.perf_counter() - start
            graphs = sum(outcome.graphs for outcome in outcomes)
            records.add(
                cell, workers=workers, graphs=graphs, seconds=seconds, cpu_seconds=watch.cpu, load=load,
                rate=graphs / seconds,
            )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="graphs,stages,channels,references,large,workers")
    parser.add_argument("--data-root", default=None)
    parser.add_argument("--most-graphs", type=int, default=1_000_000)
    parser.add_argument("--most-references", type=int, default=1_000_000)
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
        if "channels" in chosen:
            measure_channels(place, records)
        if "references" in chosen:
            measure_references(place, records, arguments.most_references)
        if "large" in chosen:
            measure_large(place, records, arguments.most_references)
        if "workers" in chosen:
            measure_workers(place, records)


if __name__ == "__main__":
    main()
