# SPDX-License-Identifier: Apache-2.0
"""The data side of a Megatron-LM job, without a model: stop on some data-parallel ranks, go on with others.

usage: megatron_data.py [--changes 2-1,1-2] [--iterations 6] [--save-after 3] [--recipe RECIPE]

One run takes all iterations on one rank. Then, for each change, torchrun starts a run on the first number of ranks,
which saves its states where Megatron-LM would and stops, and another on the second number, which goes on from them.
Every iteration's SHA-256 must be that of the run that was not stopped. Arguments and process groups are stand-ins
for Megatron-LM's, which needs a GPU.
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist

from laneway.megatron import TrainLoader, add_arguments, build_loaders

SAMPLE = pathlib.Path(__file__).resolve().parents[1] / "data" / "recipe.yaml"
KEYS = ("tokens", "labels", "loss_mask", "position_ids", "cu_seqlens", "max_seqlen")


class Ranks:
    """As ``megatron.core.mpu`` with data parallelism alone."""

    def get_data_parallel_rank(self) -> int:
        return dist.get_rank()

    def get_data_parallel_world_size(self) -> int:
        return dist.get_world_size()

    def get_tensor_model_parallel_rank(self) -> int:
        return 0

    def get_pipeline_model_parallel_rank(self) -> int:
        return 0

    def get_pipeline_model_parallel_world_size(self) -> int:
        return 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default=str(SAMPLE))
    parser.add_argument("--changes", default="2-1,1-2", help="numbers of ranks before and after the stop")
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--save-after", type=int, default=3)
    parser.add_argument("--report", help=argparse.SUPPRESS)
    parser.add_argument("--iteration", type=int, default=0, help=argparse.SUPPRESS)
    return add_arguments(parser).parse_args()


# ---- a rank of a run, under torchrun -------------------------------------------------------------


def complete(args: argparse.Namespace) -> argparse.Namespace:
    """What Megatron-LM's own arguments would be."""
    args.laneway_data_config, args.dataloader_type = args.recipe, "external"
    args.micro_batch_size, args.global_batch_size, args.seq_length = 2, 48, 128
    args.dataloader_inter_document_masking, args.eod_mask_loss = True, True
    return args


def digest(train: TrainLoader, microbatches: int) -> str:
    """SHA-256 of all rows of an iteration, over all ranks in their order."""
    hashes = [hashlib.sha256(batch[key][row].numpy().tobytes()).digest()
              for batch in (next(train) for _ in range(microbatches)) for row in range(len(batch["tokens"]))
              for key in KEYS]
    everywhere: list[list[bytes]] = [[] for _ in range(dist.get_world_size())]
    dist.all_gather_object(everywhere, hashes)
    return hashlib.sha256(b"".join(one for rank in everywhere for one in rank)).hexdigest()


def save(args: argparse.Namespace, train: TrainLoader, iteration: int) -> None:
    """As Megatron-LM's ``maybe_save_dataloader_state``."""
    folder = pathlib.Path(args.dataloader_save, f"iter_{iteration:07d}", "mp_rank_00")
    folder.mkdir(parents=True, exist_ok=True)
    torch.save({"dataloader_state_dict": train.save_state()},
               folder / f"train_dataloader_dprank{dist.get_rank():03d}.pt")


def run_rank(args: argparse.Namespace) -> None:
    dist.init_process_group("gloo")
    train, _, _ = build_loaders(complete(args), Ranks())
    assert train is not None
    microbatches = args.global_batch_size // (args.micro_batch_size * dist.get_world_size())
    digests = {}
    for iteration in range(args.iteration, args.iterations):
        digests[iteration] = digest(train, microbatches)
    if args.dataloader_save:
        save(args, train, args.iterations)
    train.close()
    if dist.get_rank() == 0:
        pathlib.Path(args.report).write_text(json.dumps(digests))
    dist.barrier()
    dist.destroy_process_group()


# ---- the runs ------------------------------------------------------------------------------------


def launch(args: argparse.Namespace, folder: pathlib.Path, ranks: int, iterations: int, *more: str) -> dict[str, str]:
    """Digests by iteration of one run."""
    report = folder / "report.json"
    subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}",
                    __file__, f"--report={report}", f"--recipe={args.recipe}", f"--iterations={iterations}", *more],
                   check=True)
    found: dict[str, str] = json.loads(report.read_text())
    return found


def main() -> int:
    args = parse_arguments()
    if args.report:
        run_rank(args)
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        expected = launch(args, folder, 1, args.iterations)
        for change in args.changes.split(","):
            before, after = map(int, change.split("-"))
            states = str(folder / change)
            found = launch(args, folder, before, args.save_after, f"--dataloader-save={states}")
            found |= launch(args, folder, after, args.iterations, f"--dataloader-load={states}",
                            f"--iteration={args.save_after}")
            wrong += found != expected
            print(f"{before} ranks, then {after}: {'the same' if found == expected else 'DIFFERENT'}")
    for iteration, digest_of_all in expected.items():
        print(f"iteration {iteration}  {digest_of_all[:16]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
