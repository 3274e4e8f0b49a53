#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much the number of ranks alone changes what a model learns: a loader whose order follows it, and Laneway.

usage: bench/topology_spread.py [--quick] [--data FOLDER] [--ranks 1,2,4,8] [--seeds N] [--steps N]
                                [--json FILE] [--svg FILE]

Trains the same tiny language model from scratch on each number of ranks (processes of this machine, over
gloo) with both loaders, several seeds each, and prints the loss on held-out text. Only the order of the data
can differ between the runs of a seed: the arithmetic is the same on any number of ranks, to the last bit
(spread/training.py). FOLDER holds JSONL files with a "text" field, each a source; without one it is the sample
data. --quick is a small run for tests. The exit code is 1 if Laneway's loss depends on the ranks.

Needs PyTorch, and the package laneway of the interpreter that runs it.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from spread import chart, data, training  # noqa: E402 (found only by the line before)

LOADERS = ("stock", "laneway")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", default=str(HERE.parent / "examples" / "data"))
    parser.add_argument("--ranks", help="numbers of ranks, each a divisor of 8 (1,2,4,8; quick: 1,2)")
    parser.add_argument("--seeds", type=int, help="(3; quick: 1)")
    parser.add_argument("--steps", type=int, help="(200; quick: 10)")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--svg", metavar="FILE")
    arguments = parser.parse_args()
    ranks = [int(one) for one in (arguments.ranks or ("1,2" if arguments.quick else "1,2,4,8")).split(",")]
    if any(training.PARTS % one for one in ranks):
        parser.error(f"--ranks is {arguments.ranks}, expected divisors of {training.PARTS}")
    arguments.ranks = ranks
    arguments.seeds = arguments.seeds or (1 if arguments.quick else 3)
    arguments.steps = arguments.steps or (10 if arguments.quick else 200)
    return arguments


def spread_of(losses):
    return max(losses) - min(losses)


def table(results, ranks):
    """The losses as lines of text: a row for each loader and seed."""
    yield "loader   seed " + "".join(f"{f'{one} rank' + 's' * (one > 1):>12}" for one in ranks) + "      spread"
    for loader, seeds in results.items():
        for seed, losses in enumerate(seeds):
            yield f"{loader:8} {seed:4} " + "".join(f"{loss:12.6f}" for loss in losses) + f"{spread_of(losses):12.6f}"


def summary(results):
    """Of each loader the mean spread over the ranks; and beside it how much the seed changes."""
    found = {}
    for loader, seeds in results.items():
        found[f"{loader}_mean_spread"] = statistics.fmean(map(spread_of, seeds))
        found[f"{loader}_largest_spread"] = max(map(spread_of, seeds))
        found[f"{loader}_spread_of_seeds"] = spread_of([losses[0] for losses in seeds])
    return found


def main():
    arguments = parse_arguments()
    runs = [(loader, seed, ranks) for seed in range(arguments.seeds) for loader in LOADERS for ranks in arguments.ranks]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="laneway-spread-") as folder:
        corpus = data.split(arguments.data, folder)
        losses = training.train_all(runs, corpus, arguments.steps, max(arguments.ranks))
    results = {loader: [[losses[loader, seed, ranks] for ranks in arguments.ranks] for seed in range(arguments.seeds)]
               for loader in LOADERS}
    found = summary(results)
    print("\n".join(table(results, arguments.ranks)))
    print("\n".join(f"{name.replace('_', ' ')}: {value:.6f}" for name, value in found.items()))
    print(f"{len(runs)} runs of {arguments.steps} steps in {time.monotonic() - begin:.0f} s")
    if arguments.json:
        report = {"ranks": arguments.ranks, "steps": arguments.steps, "losses": results, **found}
        pathlib.Path(arguments.json).write_text(json.dumps(report) + "\n")
    if arguments.svg:
        pathlib.Path(arguments.svg).write_text(chart.draw(results, arguments.ranks))
    return 1 if found["laneway_largest_spread"] > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
