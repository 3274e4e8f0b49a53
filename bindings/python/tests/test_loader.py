# SPDX-License-Identifier: Apache-2.0
"""Batches are those of the command, for every world, stop and resume."""
import hashlib

import numpy as np
import pytest

import laneway
from conftest import DIGESTS, SAMPLE, digests_of_command, row_digests, take


def step_digests(world, steps, state=None):
    """Step digests of a whole world, its ranks taken one after the other; and the state of rank 0 at the end."""
    rows = {}
    for rank in range(world):
        with laneway.open(SAMPLE, rank=rank, world=world, state=state) as loader:
            for _ in range(steps):
                batch = next(loader)
                for i, digest in enumerate(row_digests(batch)):
                    rows.setdefault(batch.step, {})[batch.first_row + i] = digest
            pieces = {**loader.state_dict(), **(pieces if rank else {})}
    found = {step: hashlib.sha256(b"".join(of[i] for i in sorted(of))).hexdigest() for step, of in rows.items()}
    return found, pieces


@pytest.mark.parametrize("world", [1, 2, 3, 16])
def test_every_world_gives_the_bytes_of_the_command(world):
    expected = digests_of_command(SAMPLE, "--world", 1, "--steps", 6)
    assert step_digests(world, 6)[0] == expected


@pytest.mark.parametrize("first, second", [(1, 3), (2, 1), (4, 3)])
def test_a_resume_on_another_world_goes_on(first, second):
    expected = digests_of_command(SAMPLE, "--world", 1, "--steps", 9)
    before, state = step_digests(first, 4)
    after, _ = step_digests(second, 5, state)
    assert {**before, **after} == expected


def test_the_command_resumes_a_state_of_python(tmp_path):
    with laneway.open(SAMPLE) as loader:
        take(loader, 3)
        loader.state().write(tmp_path / "run.state")
    found = digests_of_command(SAMPLE, "--world", 2, "--steps", 5, "--resume", tmp_path / "run.state")
    expected = digests_of_command(SAMPLE, "--steps", 8)
    assert found == {step: digest for step, digest in expected.items() if step in found} and 3 in found


def test_digests_of_the_library_are_those_of_the_arrays():
    with laneway.open(SAMPLE, options=DIGESTS) as loader:
        batch = next(loader)
        assert [bytes(row) for row in batch.row_digests] == row_digests(batch)
        assert laneway.digest_of(batch.row_digests).hex() == digests_of_command(SAMPLE, "--steps", 1)[0]


def test_restore_goes_back_and_forth(sample):
    start = sample.checkpoint()
    first = take(sample, 3)
    middle = sample.checkpoint()
    second = take(sample, 3)
    assert sample.checkpoint(after=3) == middle
    sample.restore(middle)
    assert take(sample, 3) == second
    sample.load_state_dict(laneway.State(start).pieces())
    assert take(sample, 3) == first


def test_a_restore_that_does_not_fit_changes_nothing(sample):
    with laneway.open(SAMPLE, options={"seed": 1}) as other:
        state = other.checkpoint()
    expected = take(sample, 2)
    sample.restore(laneway.open(SAMPLE).checkpoint())
    with pytest.raises(laneway.MismatchError, match="seed is 42 in the recipe, expected 1"):
        sample.restore(state)
    assert take(sample, 2) == expected


def test_states_have_pieces_merge_and_describe_themselves(sample):
    take(sample, 2)
    state = sample.state()
    assert state.step == 2 and list(state.pieces())[:2] == ["global", "lane_00000"]
    assert laneway.State.from_pieces(state.pieces()) == state
    ranks = []
    for rank in range(2):
        with laneway.open(SAMPLE, rank=rank, world=2, options={"runtime.dtype": "int64"}) as loader:
            take(loader, 2)
            ranks.append(loader.checkpoint())
    assert laneway.State.merge(ranks).pieces() == state.pieces()
    assert '"step"' in state.describe(json=True)
    with pytest.raises(laneway.CorruptError):
        laneway.State(b"no state")


def test_the_data_ends_once_and_for_all(padded):
    with laneway.open(padded) as loader:
        steps = [batch.step for batch in loader]
        assert steps == list(range(len(steps))) and steps
        assert next(loader, None) is None


@pytest.mark.parametrize("end, op", [("drop", "min"), ("pad", "max")])
def test_the_end_can_be_agreed_on(padded, end, op):
    asked = []

    def agree(what, value):
        asked.append(what)
        return value

    recipe = {**padded, "end": end}
    with laneway.open(recipe) as loader:
        alone = take_all(loader)
    with laneway.open(recipe, agree=agree) as loader:
        assert take_all(loader) == alone
    assert set(asked) == {op} and len(asked) == len(alone) + 1


def take_all(loader):
    return [batch.tokens.tobytes() for batch in loader]


def test_an_exception_of_agree_is_the_callers(padded):
    def agree(_what, _value):
        raise KeyError("mine")

    with laneway.open(padded, agree=agree) as loader, pytest.raises(KeyError, match="mine"):
        next(loader)


def test_places_and_counters(sample):
    batch = next(sample)
    segment = batch.segments(0)[0]
    source, shard, record = sample.locate(segment)
    assert source in ("notes", "guides", "tales") and shard.endswith(f"{source}.jsonl") and record >= 0
    assert sum(one.count for one in batch.segments(0)) == batch.context
    stats = sample.stats()
    assert stats["rows"] == batch.rows and stats["tokens"] == np.size(batch.tokens)
    assert "48 rows of 128 tokens" in sample.explain()
