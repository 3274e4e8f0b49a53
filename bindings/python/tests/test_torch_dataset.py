# SPDX-License-Identifier: Apache-2.0
"""The data set for PyTorch: bare, in data loaders, pickled, and its states."""
import copy
import pickle

import pytest

import laneway
import operator_functions
from conftest import SAMPLE, digests_of_command, left_over, run_python, take

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.utils.data import DataLoader  # noqa: E402 (only where it is installed)

from laneway.torch import StateAfter, StreamDataset  # noqa: E402


def itself(batch):
    return batch


def stream(source=SAMPLE, **more):
    return StreamDataset(source, convert=itself, **more)


@pytest.fixture
def dataset():
    made = stream()
    yield made
    made.close()


def test_it_gives_what_the_command_does(dataset):
    expected = digests_of_command(SAMPLE, "--steps", 4)
    assert take(iter(dataset), 4) == [expected[step] for step in range(4)]


def test_fields_are_what_a_training_step_takes():
    made = StreamDataset(SAMPLE, rank=1, world=2)
    fields = next(iter(made))
    with laneway.open(SAMPLE, rank=1, world=2) as loader:
        batch = next(loader)
    made.close()
    assert set(fields) == {"input_ids", "positions", "labels"}
    assert all(value.dtype == torch.int64 for value in fields.values())
    assert (fields["input_ids"].numpy() == batch.tokens).all() and (fields["labels"].numpy() == batch.labels).all()


def test_every_iteration_goes_on(dataset):
    expected = take(laneway.open(SAMPLE), 4)
    assert take(iter(dataset), 2) + take(iter(dataset), 2) == expected


def test_after_the_end_of_the_data_it_begins_again(padded):
    made = stream(padded)
    first = [batch.step for batch in made]
    assert len(first) > 2 and [batch.step for batch in made] == first
    made.close()


def test_restart_goes_back(dataset):
    first = take(iter(dataset), 2)
    dataset.restart()
    assert take(iter(dataset), 2) == first


def test_a_pipeline_brings_its_place(texts):
    source = laneway.StaticMixtureWorkSource([laneway.Dataset.from_path("texts", texts)], exhausted_policy="repeat")
    pipeline = (laneway.Pipeline(source).options(dp_degree=2, dp_group_id=1).tokenize("bytes").pack_flat(32).batch(3))
    made = stream(pipeline)
    assert next(iter(made)).first_row == 3
    assert next(iter(stream(pipeline, rank=0, world=1))).first_row == 0
    made.close()


@pytest.mark.parametrize("runner", ["threads", "inline", "process"])
def test_operators_run_where_it_is_told(runner):
    recipe = laneway.Recipe.open(SAMPLE).add(laneway.Map(operator_functions.shout))
    with laneway.open(recipe) as plain:
        expected = take(plain, 3)
    made = stream(recipe, runner=runner, processes=2)
    assert take(iter(made), 3) == expected
    assert type(made.loader()._run.runner).__name__ == {"process": "Processes"}.get(runner, runner.title())
    made.load_state_dict(made.state_dict())
    assert type(made.loader()._run.runner).__name__ == {"process": "Processes"}.get(runner, runner.title())
    made.close()


def test_the_runner_of_a_pipeline_stays_unless_another_is_named(texts):
    source = laneway.StaticMixtureWorkSource([laneway.Dataset.from_path("texts", texts)], exhausted_policy="repeat")
    pipeline = (laneway.Pipeline(source).options(runner="inline").map_transform(operator_functions.shout)
                .tokenize("bytes").pack_flat(32).batch(3))
    for runner, expected in ((None, "Inline"), ("threads", "Threads")):
        made = stream(pipeline, runner=runner)
        assert type(made.loader()._run.runner).__name__ == expected
        made.close()


def test_rank_without_world_is_refused():
    with pytest.raises(laneway.InvalidError, match="rank is 1 and world is None, expected both or neither"):
        stream(rank=1)


def test_a_launched_rank_without_a_process_group_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(laneway.InvalidError, match="WORLD_SIZE is 2 and there is no process group"):
        next(iter(stream()))


# ---- data loaders ----------------------------------------------------------------------------------


def test_in_a_data_loader():
    made = StreamDataset(SAMPLE)
    expected = [fields["input_ids"] for _, fields in zip(range(3), StreamDataset(SAMPLE))]
    found = [fields["input_ids"] for _, fields in zip(range(3), DataLoader(made, batch_size=None))]
    assert all(torch.equal(one, other) for one, other in zip(found, expected))
    made.close()


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_are_refused_with_what_to_use(start):
    code = """
import sys, laneway.torch, torch.utils.data as data
if __name__ == "__main__":
    dataset = laneway.torch.StreamDataset(sys.argv[1])
    next(iter(dataset))
    dataset.restart()
    next(iter(data.DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context=sys.argv[2])))
"""
    done = run_python(code, SAMPLE, start)
    assert done.returncode == 1
    assert "num_workers=2, expected num_workers=0: the data is read by threads of its own" in done.stderr


def test_in_a_stateful_data_loader():
    stateful = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")
    expected = take(laneway.open(SAMPLE), 5)
    first, second = stream(), stream()
    loader = stateful.StatefulDataLoader(first, batch_size=None)
    assert take(iter(loader), 2) == expected[:2]
    resumed = stateful.StatefulDataLoader(second, batch_size=None)
    resumed.load_state_dict(pickle.loads(pickle.dumps(loader.state_dict())))
    assert take(iter(resumed), 3) == expected[2:]
    first.close()
    second.close()


@pytest.mark.parametrize("end", ["pad", "drop"])
def test_a_state_of_the_end_goes_on_at_the_end(padded, end):
    """As in the plain loader the rest is nothing; then the data begins again."""
    first, second = stream({**padded, "end": end}), stream({**padded, "end": end})
    steps = [batch.step for batch in first]
    state = first.state_dict()
    assert [batch.step for batch in first] == steps and steps
    with laneway.open({**padded, "end": end}, state=state) as plain:
        assert list(plain) == []
    second.load_state_dict(state)
    assert [[batch.step for batch in second] for _ in range(3)] == [[], steps, steps]
    second.load_state_dict(state)
    assert second.state_dict() == state and next(iter(second), None) is None
    first.close()
    second.close()


@pytest.mark.parametrize("taken", ["some", "all but the end", "all"])
def test_epochs_of_a_stateful_data_loader_are_those_of_a_run_without_a_stop(padded, taken):
    """Its iterations after a load are those it would have had: of an epoch that had ended nothing is left, nor is there
    an empty one in its place."""
    stateful = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")
    first, second = stream(padded), stream(padded)
    loader, resumed = (stateful.StatefulDataLoader(one, batch_size=None) for one in (first, second))
    steps = [batch.step for batch in loader]
    iterator = iter(loader)
    for _ in range({"some": 3, "all but the end": len(steps)}.get(taken, 0)):
        next(iterator)
    state = pickle.loads(pickle.dumps(loader.state_dict())) if taken != "all" else None
    rest = [batch.step for batch in iterator]
    state = state or pickle.loads(pickle.dumps(loader.state_dict()))
    expected = ([] if taken == "all" else [rest]) + [[batch.step for batch in loader] for _ in range(2)]
    resumed.load_state_dict(state)
    assert [[batch.step for batch in resumed] for _ in expected] == expected
    assert expected[-1] == steps and rest == steps[-len(rest):] * bool(rest)
    first.close()
    second.close()


# ---- pickling and states ---------------------------------------------------------------------------


def test_a_copy_is_a_data_set_that_has_not_begun(dataset):
    copied, pickled = copy.deepcopy(dataset), pickle.loads(pickle.dumps(dataset))
    expected = take(iter(dataset), 2)
    assert take(iter(copied), 2) == expected and take(iter(pickled), 2) == expected
    copied.close()
    pickled.close()


def test_one_that_has_begun_cannot_be_pickled(dataset):
    next(iter(dataset))
    with pytest.raises(TypeError, match="has begun cannot be pickled"):
        pickle.dumps(dataset)


def test_a_fresh_state_starts_nothing_and_names_the_lanes():
    before = left_over()
    made = stream(rank=1, world=4)
    state = made.state_dict()
    assert list(state) == ["global", "lane_00002", "lane_00003"]
    assert left_over() == before
    with laneway.open(SAMPLE, rank=1, world=4) as loader:
        assert loader.state_dict() == state
    assert take(iter(made), 1) == take(laneway.open(SAMPLE, rank=1, world=4), 1)
    made.close()


def test_states_go_on(dataset):
    expected = take(iter(dataset), 2)
    state = dataset.state_dict()
    expected = take(iter(dataset), 2)
    for _ in range(2):  # also one that has begun
        dataset.load_state_dict(state)
        assert take(iter(dataset), 2) == expected


def test_a_state_that_does_not_fit_changes_nothing(dataset):
    state = dataset.state_dict()
    other = stream(options={"seed": 1})
    with pytest.raises(laneway.MismatchError, match="seed is 1"):
        other.load_state_dict(state)
    assert take(iter(other), 1) == take(laneway.open(SAMPLE, options={"seed": 1}), 1)
    other.close()


def test_the_state_of_the_step_trained(dataset):
    batches = iter(dataset)
    expected = take(batches, 5)  # five taken ahead, two of them trained
    trained = StateAfter(dataset, 2)
    resumed = stream()
    again = StateAfter(resumed)
    assert again.state_dict() == resumed.state_dict()
    again.load_state_dict(trained.state_dict())
    assert again.steps == 2 and again.state_dict() == trained.state_dict()
    assert take(iter(resumed), 3) == expected[2:]
    with pytest.raises(laneway.NotFoundError, match="no state after 9 steps"):
        StateAfter(dataset, 9).state_dict()
    resumed.close()


def test_distributed_checkpoints_without_a_process_group(tmp_path, dataset):
    dcp = pytest.importorskip("torch.distributed.checkpoint", reason="this PyTorch has no distributed checkpoints")
    take(iter(dataset), 3)
    dcp.save({"data": dataset}, checkpoint_id=tmp_path)
    expected = take(iter(dataset), 2)
    resumed = stream(rank=0, world=1)
    dcp.load({"data": resumed}, checkpoint_id=tmp_path)
    assert take(iter(resumed), 2) == expected
    resumed.close()
