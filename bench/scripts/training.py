"""Time and memory of a training epoch, compared with the same network written with PyG's edge lists.

    python bench/scripts/training.py --data-root DATA --output bench/results/benchmarks/training.json

Both sides train the same layers with the same losses (alignment and Gram penalty) on the same batches of 64 graphs;
each runs in its own process. The plain side keeps one `Data` object per graph, collates with `Batch`, and passes
messages over an edge list, which holds a tensor of edges by hidden width. `epoch_mib` is what two epochs add to the
memory in use before them; processor time is the fairer clock on a busy machine. `full_cpu_seconds` is an epoch of
GraphGlass with perturbations and prototypes, as most epochs of the paper preset are.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

from graphglass.glass.network.schema import fit_schema
from graphglass.glass.training import trainer
from graphglass.glass.training.config import TrainingConfig
from graphglass.graphs.datasets import load_dataset
from graphglass.structure.profile import profile

SUBSETS = {"NCI1": 640, "DD": 320, "REDDIT-BINARY": 320, "COLLAB": 320}
SIDES = ("compressed", "edge-list")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--output", type=Path, default=Path("bench/results/benchmarks/training.json"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", nargs=2, metavar=("DATASET", "SIDE"), help="measure one side here and print it")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one, options.data_root, options.threads)))
        return
    rows = []
    for name in SUBSETS:
        ours, plain = (elsewhere(name, side, options) for side in SIDES)
        ratio = {key: round(plain[key] / ours[key], 2) for key in ("epoch_seconds", "cpu_seconds", "epoch_mib")}
        rows.append({"dataset": name, "compressed": ours, "edge_list": plain, "edge_list_over_compressed": ratio})
        print(name, ratio)
    machine = {"python": platform.python_version(), "torch": torch.__version__, "threads": options.threads}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps({"machine": machine, "subsets": rows}, indent=2) + "\n")


def elsewhere(name: str, side: str, options: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", name, side, "--threads", str(options.threads)]
    if options.data_root is not None:
        command += ["--data-root", str(options.data_root)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(name: str, side: str, data_root: Path | None, threads: int) -> dict[str, float]:
    torch.set_num_threads(threads)
    graphs = load_dataset(name, data_root)
    chosen = np.sort(np.random.default_rng(0).permutation(len(graphs))[: SUBSETS[name]])
    graphs = graphs[chosen].without_labels()
    structure = profile(graphs)
    anchors = np.random.default_rng(0).standard_normal((len(graphs), 1024)).astype(np.float32)
    domain = trainer.Domain(graphs, structure, anchors)
    config = TrainingConfig(epochs=3, normalisation="graph", prototype_weight=0.0)
    schema = fit_schema(graphs, structure, normalisation=config.normalisation)
    if side == "compressed":
        run = trainer._Run([domain], schema, config)
    else:
        run = PlainRun(trainer.graph_inputs(graphs, structure, schema), anchors, schema, config)
    before = reset_peak()
    wall, cpu = epoch_seconds(run)
    added, peak = peak_mib() - before, peak_mib()
    found = {
        "graphs": len(graphs),
        "edges": graphs.edge_count,
        "epoch_seconds": round(wall, 3),
        "cpu_seconds": round(cpu, 3),
        "epoch_mib": round(added, 1),
        "peak_mib": round(peak, 1),
    }
    if side == "compressed":
        TrainingConfig.warmup_epochs = 0  # the epochs measured are ones with prototypes
        full = trainer._Run([domain], schema, TrainingConfig(epochs=3, normalisation="graph"))
        found["full_cpu_seconds"] = round(epoch_seconds(full)[1], 3)
    return found


def epoch_seconds(run) -> tuple[float, float]:
    """Wall and processor time of the second epoch; the first compiles and reserves what every epoch uses."""
    run.epoch()
    wall, cpu = time.perf_counter(), time.process_time()
    run.epoch()
    return time.perf_counter() - wall, time.process_time() - cpu


class PlainRun:
    """The same network as PyG's tutorials write it."""

    def __init__(self, inputs, anchors, schema, config) -> None:
        from torch_geometric.data import Data
        from torch_geometric.nn import GINConv

        slices = trainer.available_slices(config.slices, anchors.shape[1])
        self.config, self.count = config, len(inputs)
        self.cost = inputs.cost()
        self.anchors = {size: torch.from_numpy(trainer.prefix_slice(anchors, size)) for size in slices}
        self.encoder = trainer.new_encoder(schema, slices, config).train()
        self.layers = torch.nn.ModuleList(GINConv(part, train_eps=True) for part in self.encoder.network.maps)
        self.optimiser = torch.optim.AdamW(
            [*self.encoder.parameters(), *(layer.eps for layer in self.layers)], lr=config.learning_rate
        )
        self.data = []
        for index in range(len(inputs)):
            one = inputs.take(torch.tensor([index]))
            wide = torch.zeros(len(one.features), schema.input_width)
            wide[:, one.columns] = one.features
            sources = torch.repeat_interleave(one.neighbour_offsets.diff())
            edges = torch.stack([sources, one.neighbours.long()])
            self.data.append(Data(x=wide, edge_index=edges, sketch=one.sketch))
        self.done = 0

    def epoch(self) -> None:
        from torch_geometric.data import Batch
        from torch_geometric.nn import global_max_pool, global_mean_pool

        batches = trainer.epoch_batches(
            self.cost, graphs=self.config.batch_size, budget=1 << 62, seed=self.config.seed, epoch=self.done
        )
        self.done += 1
        columns = torch.arange(self.data[0].x.shape[1])
        for chosen in batches:
            batch = Batch.from_data_list([self.data[index] for index in chosen.tolist()])
            self.optimiser.zero_grad()
            x = self.encoder.canonicalisation.second(self.encoder.canonicalisation(batch.x, columns))
            for depth, layer in enumerate(self.layers):
                x = layer(x if depth == 0 else torch.relu(x), batch.edge_index)
            readout = [global_mean_pool(x, batch.batch), global_max_pool(x, batch.batch)]
            rows = self.encoder.projections(torch.cat([*readout, self.encoder.sketch(batch.sketch)], dim=1))
            weights = self.encoder.projections.weights
            gram = sum(
                ((w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w) - torch.eye(min(w.shape))).square().sum()
                for w in weights
            )
            anchors = {size: anchor[chosen] for size, anchor in self.anchors.items()}
            loss = trainer.alignment_loss(rows, anchors) + self.config.gram_weight * gram / len(weights)
            loss.backward()
            self.optimiser.step()


def reset_peak() -> float:
    """Forget the peak so far (Linux) and give the memory in use now, MiB."""
    Path("/proc/self/clear_refs").write_text("5")
    return status_mib("VmRSS")


def peak_mib() -> float:
    return status_mib("VmHWM")


def status_mib(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


if __name__ == "__main__":
    main()
