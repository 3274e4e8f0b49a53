# SPDX-License-Identifier: Apache-2.0
"""The data set among ranks: real processes over gloo, and distributed checkpoints that change their number."""
import pickle

import pytest

import laneway
from conftest import SAMPLE, take

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
stateful = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")

import torch.distributed as dist  # noqa: E402 (only where it is installed)
import torch.distributed.checkpoint as dcp  # noqa: E402
import torch.multiprocessing  # noqa: E402

from laneway.torch import StateAfter, StreamDataset, agreement, gather_state  # noqa: E402

RANKS = 2
STEPS = 3


def itself(batch):
    return batch


def run_rank(rank, folder, padded):
    """One rank; what it finds goes into a file of its own."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=RANKS)
    found = {}
    dataset = StreamDataset(SAMPLE, convert=itself)
    batches = iter(dataset)
    found["first_row"] = next(batches).first_row
    found["digests"] = take(batches, STEPS - 1)
    found["lanes"] = sorted(set(dataset.state_dict()) - {"global"})
    found["blob"] = gather_state(dataset)
    found["earlier"] = gather_state(dataset, after=1)
    dcp.save({"data": dataset}, checkpoint_id=folder / "bare")
    dcp.save({"data": StateAfter(dataset, 1)}, checkpoint_id=folder / "trained")
    loader = stateful.StatefulDataLoader(StreamDataset(SAMPLE, convert=itself), batch_size=None)
    take(iter(loader), STEPS)
    dcp.save({"data": loader}, checkpoint_id=folder / "loader")
    loader.dataset.close()
    dataset.close()
    agreed = StreamDataset(padded, agree=agreement(), convert=itself)
    found["agreed"] = [(batch.step, batch.first_row) for batch in agreed]
    agreed.restart()
    found["agreed_lanes"] = sorted(set(agreed.state_dict()) - {"global"})
    (folder / f"rank{rank}").write_bytes(pickle.dumps(found))
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """What each rank has found, and the folder with their checkpoints."""
    folder = tmp_path_factory.mktemp("ranks")
    texts = folder / "texts.jsonl"
    texts.write_text("".join(f'{{"text": "{"x" * (i * 37 % 90)}{i}"}}\n' for i in range(60)))
    padded = {"lanes": 2, "global_batch": 4, "context": 32, "sources": [{"name": "texts", "path": str(texts)}],
              "tokenizer": {"name": "bytes", "eos": True}, "end": "pad"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLOO_SOCKET_IFNAME", "lo")
        torch.multiprocessing.spawn(run_rank, (folder, padded), nprocs=RANKS)
    found = [pickle.loads((folder / f"rank{rank}").read_bytes()) for rank in range(RANKS)]
    with laneway.open(padded) as loader:
        found.append([batch.step for batch in loader])
    return folder, found


@pytest.fixture
def expected():
    """Digests of one rank's whole run."""
    with laneway.open(SAMPLE) as loader:
        return take(loader, STEPS + 2)


def resumed(folder, data):
    dcp.load({"data": data}, checkpoint_id=folder)
    return take(iter(data), 2)


def test_rank_and_world_are_those_of_the_process_group(ranks):
    _, found = ranks
    assert [found[rank]["first_row"] for rank in range(RANKS)] == [0, 24]
    assert [found[rank]["lanes"] for rank in range(RANKS)] == [[f"lane_{lane:05}" for lane in range(first, first + 4)]
                                                              for first in (0, 4)]
    for rank in range(RANKS):
        with laneway.open(SAMPLE, rank=rank, world=RANKS) as loader:
            assert take(loader, STEPS)[1:] == found[rank]["digests"]


def test_one_blob_of_all_ranks_resumes_one(ranks, expected):
    _, found = ranks
    assert found[0]["blob"] == found[1]["blob"]
    with laneway.open(SAMPLE, state=found[0]["blob"]) as loader:
        assert take(loader, 2) == expected[STEPS:]
    with laneway.open(SAMPLE, state=found[1]["earlier"]) as loader:
        assert take(loader, 2) == expected[1:3]


@pytest.mark.filterwarnings("ignore:torch.distributed is")
def test_checkpoints_of_two_ranks_resume_one(ranks, expected):
    folder, _ = ranks
    for name, first in (("bare", STEPS), ("trained", 1)):
        dataset = StreamDataset(SAMPLE, convert=itself)
        assert resumed(folder / name, dataset) == expected[first : first + 2]
        dataset.close()


@pytest.mark.filterwarnings("ignore:torch.distributed is")
def test_those_of_a_stateful_data_loader_too(ranks, expected):
    folder, _ = ranks
    loader = stateful.StatefulDataLoader(StreamDataset(SAMPLE, convert=itself), batch_size=None)
    assert resumed(folder / "loader", loader) == expected[STEPS:]
    loader.dataset.close()


@pytest.mark.filterwarnings("ignore:torch.distributed is")
def test_a_checkpoint_that_lacks_a_lane_is_refused(tmp_path):
    dcp.save({"data": StreamDataset(SAMPLE, rank=0, world=2)}, checkpoint_id=tmp_path)
    with pytest.raises(dcp.api.CheckpointException, match="lane_00004"):
        dcp.load({"data": StreamDataset(SAMPLE)}, checkpoint_id=tmp_path)


def test_ranks_agree_on_the_end_of_the_data(ranks):
    _, found = ranks
    steps = found[RANKS]
    assert [found[rank]["agreed"] for rank in range(RANKS)] == [[(step, 2 * rank) for step in steps]
                                                               for rank in range(RANKS)]
    assert [found[rank]["agreed_lanes"] for rank in range(RANKS)] == [["lane_00000"], ["lane_00001"]]
