# SPDX-License-Identifier: Apache-2.0
"""Stop on one number of ranks, go on with another: the batches and the losses do not change.

usage: elastic_resume.py [--changes 2-1,1-2,4-3] [--steps 8] [--save-after 4] [--recipe RECIPE]

One run takes all steps on one rank. Then, for each change, torchrun starts a run on the first number of
ranks, which stops in the middle, and another on the second number, which goes on from its checkpoint:
model, optimizer and data through torch.distributed.checkpoint. Every step's SHA-256 and loss must be those of
the run that was not stopped.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

import laneway
from laneway.torch import StreamDataset

SAMPLE = pathlib.Path(__file__).resolve().parents[1] / "data" / "recipe.yaml"
WIDTH = 16
LOSS_TOLERANCE = 1e-9  # gradients are summed in float64, in an order that depends on the ranks


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default=str(SAMPLE))
    parser.add_argument("--changes", default="2-1,1-2,4-3", help="numbers of ranks before and after the stop")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--save-after", type=int, default=4)
    parser.add_argument("--load", help=argparse.SUPPRESS)
    parser.add_argument("--save", help=argparse.SUPPRESS)
    parser.add_argument("--report", help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- a rank of a run, under torchrun -------------------------------------------------------------


class Training:
    """Model and optimizer, as a distributed checkpoint keeps them."""

    def __init__(self, vocabulary: int) -> None:
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Embedding(vocabulary, WIDTH), torch.nn.Linear(WIDTH, vocabulary))
        self.model.double()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01)

    def state_dict(self) -> dict[str, Any]:
        model, optimizer = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optimizer": optimizer}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])

    def step(self, batch: laneway.Batch) -> float:
        """One step of all ranks together; the loss of the whole global batch."""
        fields = batch.to_training(return_labels=True, framework="torch")
        labels = fields["labels"].flatten()
        logits = self.model(fields["input_ids"]).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
        totals = torch.stack([loss.detach(), (labels >= 0).sum().double()])
        dist.all_reduce(totals)
        parameters = list(self.model.parameters())
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss / totals[1], parameters)):
            dist.all_reduce(gradient)
            parameter.grad = gradient
        self.optimizer.step()
        return float(totals[0] / totals[1])


def step_digest(batch: laneway.Batch) -> str:
    """SHA-256 of the global batch: ranks hold its rows in order, so their row digests are laid end to end."""
    ranks: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(ranks, batch.row_digests)
    return laneway.digest_of(np.concatenate(ranks)).hex()


def run_rank(arguments: argparse.Namespace) -> None:
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    dataset = StreamDataset(arguments.recipe, options={"runtime.digests": True, "runtime.threads": 1},
                            convert=lambda batch: batch)
    training = Training(vocabulary_of(arguments.recipe))
    if arguments.load:
        load({"training": training, "data": dataset}, checkpoint_id=arguments.load)
    found = []
    for batch in dataset:
        found.append((batch.step, step_digest(batch), training.step(batch)))
        if batch.step + 1 == arguments.steps:
            break
    if arguments.save:
        save({"training": training, "data": dataset}, checkpoint_id=arguments.save)
    if dist.get_rank() == 0:
        pathlib.Path(arguments.report).write_text(json.dumps(found))
    dataset.close()
    dist.destroy_process_group()


def vocabulary_of(recipe: str) -> int:
    return laneway.Tokenizer(pathlib.Path(recipe).parent / "tokenizer.json").vocabulary


# ---- the runs ------------------------------------------------------------------------------------


class Runs:
    def __init__(self, arguments: argparse.Namespace, folder: str) -> None:
        self.arguments, self.folder = arguments, pathlib.Path(folder)

    def torchrun(self, ranks: int, steps: int, **more: str) -> list[tuple[int, str, float]]:
        """Runs until ``steps`` are taken: number, digest and loss of each step it took itself."""
        report = self.folder / "report.json"
        options = {"recipe": self.arguments.recipe, "steps": str(steps), "report": str(report), **more}
        line = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), __file__,
                *(f"--{name}={value}" for name, value in options.items())]
        subprocess.run(line, check=True, env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"})
        return [(step, digest, loss) for step, digest, loss in json.loads(report.read_text())]

    def change(self, before: int, after: int) -> list[tuple[int, str, float]]:
        """All steps of a run that is stopped in the middle."""
        checkpoint = str(self.folder / f"{before}-{after}")
        first = self.torchrun(before, self.arguments.save_after, save=checkpoint)
        return first + self.torchrun(after, self.arguments.steps, load=checkpoint)


def same(found: list[tuple[int, str, float]], expected: list[tuple[int, str, float]]) -> bool:
    return [one[:2] for one in found] == [one[:2] for one in expected] and all(
        abs(one[2] - other[2]) < LOSS_TOLERANCE for one, other in zip(found, expected))


def show(title: str, steps: list[tuple[int, str, float]]) -> None:
    print(title)
    for step, digest, loss in steps:
        print(f"  step {step}  {digest[:16]}  loss {loss:.9f}", flush=True)


def main() -> int:
    arguments = parse_arguments()
    if "LOCAL_RANK" in os.environ:
        run_rank(arguments)
        return 0
    good = True
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(arguments, folder)
        whole = runs.torchrun(1, arguments.steps)
        show(f"{arguments.steps} steps on 1 rank, not stopped", whole)
        for change in arguments.changes.split(","):
            before, after = map(int, change.split("-"))
            found = runs.change(before, after)
            fits = same(found, whole)
            verdict = "the same" if fits else "DIFFERENT"
            show(f"{before} ranks, after {arguments.save_after} steps {after}: {verdict}", found)
            good = good and fits
    print(f"every step has the same SHA-256 and loss: {'yes' if good else 'NO'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
