# SPDX-License-Identifier: Apache-2.0
"""Pipelines put together step by step.

Each step returns a new definition; ``recipe()`` says what they come to. The data is opened by the first
batch, state or explanation that is asked for, and no step can be added after that.
"""
from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ._native import PathLike
from .chat import Chat, Mask
from .errors import InvalidError, UnsupportedError
from .loader import Agree, Loader, explain
from .operators import Expand, Filter, Map, Operator, Stateful
from .recipe import Recipe
from .sources import StaticMixtureWorkSource
from .state import StateLike
from .tokenizer_files import find_tokenizer

_SPECIAL_TOKENS = {"bos_eos": (True, True), "bos": (True, False), "eos": (False, True), "none": (False, False)}

# What others have, and what to use instead.
_ELSEWHERE = {
    "pack_sequences": "pack_flat()",
    "prefetch": "options(prefetch_batches=...)",
}


@dataclass(frozen=True)
class _Definition:
    source: StaticMixtureWorkSource
    tokenizer: Mapping[str, Any] | None = None
    text: str = "text"
    truncate: int | None = None
    pack: Mapping[str, Any] | None = None
    context: int = 0
    shuffle_rows: int = 0
    shuffle_seed: int | None = None
    microbatch: int = 0
    drop_last: bool = True
    dp_degree: int = 1
    dp_group_id: int = 0
    lanes: int | None = None
    agree: Agree | None = None
    operators: tuple[Operator, ...] = ()
    runner: str = "threads"
    processes: int = 0
    runtime: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)


class Pipeline:
    """A definition of a stream, and the stream itself once it runs.

    >>> pipeline = (Pipeline(source).tokenize("gpt2", field="text").pack_flat(max_length=2048)
    ...             .shuffle(buffer_size=1024, seed=42).batch(microbatch_size=8))
    >>> for batch in pipeline:
    ...     train(**batch.to_training(return_labels=True))
    """

    def __init__(self, source: StaticMixtureWorkSource) -> None:
        self._definition = _Definition(source)
        self._loader: Loader | None = None
        self._start: StateLike | None = None

    def _with(self, **changes: Any) -> Pipeline:
        if self._loader is not None:
            raise InvalidError("pipeline: a step after the first batch, expected all steps before it")
        made = Pipeline(self._definition.source)
        made._definition = replace(self._definition, **changes)
        made._start = self._start
        return made

    # ---- steps -----------------------------------------------------------------------------------

    def options(self, *, dp_degree: int | None = None, dp_group_id: int | None = None,
                canonical_replicas: int | None = None, prefetch_batches: int | None = None,
                io_options: Mapping[str, Any] | None = None, deterministic: bool = True,
                agree: Agree | None = None, recipe: Mapping[str, Any] | None = None,
                runner: str | None = None, processes: int | None = None, mtp_mode: bool | None = None,
                world_size: int | None = None,
                global_rank: int | None = None, aggregate_dir: PathLike | None = None, run_id: str | None = None,
                default_stage_prefetch: int | None = None) -> Pipeline:
        """dp_degree, dp_group_id: data-parallel ranks, and which of them this is.
        canonical_replicas: lanes, a multiple of ``dp_degree`` (its default). It is part of the stream: with more
            lanes than ranks the number of ranks can change on resume.
        prefetch_batches: steps made ready before they are asked for.
        agree: see ``laneway.open``; used where the data ends.
        recipe: options of the recipe by dotted name, as {"runtime.memory": "8GB"}.
        runner, processes: see ``laneway.open``; where functions of operators are called. All else is done by threads.

        The others are taken and have no effect: every run is deterministic, states need no shared folder, and files
        on local disks no cache.
        """
        if not deterministic:
            raise UnsupportedError("options: deterministic is False, expected True: every run is")
        unknown = set(io_options or {}) - {"cache"}
        if unknown:
            raise UnsupportedError(f"options: io_options has {sorted(unknown)[0]!r}, expected \"cache\" alone")
        now = self._definition
        runtime = dict(now.runtime)
        if prefetch_batches is not None:
            runtime["prefetch_steps"] = prefetch_batches
        return self._with(dp_degree=now.dp_degree if dp_degree is None else dp_degree,
                          dp_group_id=now.dp_group_id if dp_group_id is None else dp_group_id,
                          lanes=now.lanes if canonical_replicas is None else canonical_replicas,
                          agree=now.agree if agree is None else agree, runtime=runtime,
                          runner=now.runner if runner is None else runner,
                          processes=now.processes if processes is None else processes,
                          recipe={**now.recipe, **(recipe or {})})

    def decode_text(self) -> Pipeline:
        """Nothing to do: text is read as it is."""
        return self

    def ensure_mixture(self, **_settings: object) -> Pipeline:
        """Nothing to do: the mixture is kept as documents are drawn, to within one document."""
        return self

    def map_transform(self, function: Callable[..., Any], *, name: str = "", version: int = 1,
                      batched: bool = False) -> Pipeline:
        """Replaces each text by ``function(text)``; batched: a list of texts by a list of as many.
        name, version: part of the fingerprint of a state; raise the version whenever the function's results change.
        """
        return self._text_step(Map(function, name, version, batched))

    def filter(self, function: Callable[..., Any], *, name: str = "", version: int = 1,
               batched: bool = False) -> Pipeline:
        """Keeps the texts for which ``function(text)`` is true; see ``map_transform``."""
        return self._text_step(Filter(function, name, version, batched))

    def expand(self, function: Callable[..., Any], *, name: str = "", version: int = 1,
               batched: bool = False) -> Pipeline:
        """Makes of each text the documents ``function(text)``, an iterable of texts; see ``map_transform``."""
        return self._text_step(Expand(function, name, version, batched))

    def stateful_transform(self, transform: Any, *, name: str = "", version: int = 1, group: int = 16) -> Pipeline:
        """Orders, groups or drops tokenized documents: a ``StatefulTransform``, which has a state for each lane.
        group: documents of a call, see ``Stateful``; not part of the stream."""
        if self._definition.tokenizer is None or self._definition.pack is not None:
            raise UnsupportedError("stateful_transform: before tokenize() or after pack_flat(), expected between them: "
                                   "it is given tokenized documents")
        return self._with(operators=(*self._definition.operators, Stateful(transform, name, version, group)))

    def _text_step(self, operator: Operator) -> Pipeline:
        if self._definition.tokenizer is not None:
            raise UnsupportedError(f"{operator.kind}: after tokenize(), expected before it: it is given texts")
        return self._with(operators=(*self._definition.operators, operator))

    def tokenize(self, tokenizer: Any = None, tokenizer_id: PathLike | None = None, *, field: str = "text",
                 parallelism: int | None = None, special_tokens: str = "bos_eos", max_length: int | None = None,
                 truncation: bool = False, split_long_samples: bool = False, pattern: str | None = None,
                 special_text: bool = False, **ignored: object) -> Pipeline:
        """tokenizer, tokenizer_id: the path of a tokenizer, or a name that ``find_tokenizer`` finds; "bytes" for
            one without a file.
        field: the field of a record that holds the text; dots lead into nested objects.
        parallelism: worker threads, of the whole pipeline.
        special_tokens: what begins and ends each document: "bos_eos", "bos", "eos" or "none".
        max_length, truncation: documents of more tokens than a row has are split, or cut off at a row's length.
        pattern, special_text: as ``tokenizer.pattern`` and ``tokenizer.special_text`` of a recipe.
        """
        _check_ignored(ignored)
        if special_tokens not in _SPECIAL_TOKENS:
            raise UnsupportedError(f"tokenize: special_tokens is {special_tokens!r}, expected one of "
                                   f"{', '.join(_SPECIAL_TOKENS)}")
        bos, eos = _SPECIAL_TOKENS[special_tokens]
        runtime = {**self._definition.runtime, **({} if parallelism is None else {"threads": parallelism})}
        chosen = {**_tokenizer_of(tokenizer, tokenizer_id), "bos": bos, "eos": eos, "special_text": special_text}
        return self._with(tokenizer=chosen if pattern is None else {**chosen, "pattern": pattern}, text=field,
                          truncate=max_length if truncation and not split_long_samples else None, runtime=runtime)

    def tokenize_chat(self, tokenizer: Any = None, tokenizer_id: PathLike | None = None, *, field: str = "messages",
                      template: PathLike | None = None, mask: Mask = "assistant", scope: str = "all",
                      tools_field: str = "tools", template_kwargs: Mapping[str, Any] | None = None,
                      date: str | datetime.date | None = None, add_generation_prompt: bool = True,
                      special_tokens: str = "none", **more: Any) -> Pipeline:
        """Renders the messages of each record by a chat template and tokenizes the text; only some of it is learnt.
        Steps before it are given records, as JSON.

        field to add_generation_prompt: see ``Chat.from_tokenizer``.
        special_tokens: besides those that the template writes; the others are as for ``tokenize``.
        """
        chosen = _name_of(tokenizer, tokenizer_id)
        chat = Chat.from_tokenizer(chosen, template=template, field=field, mask=mask, scope=scope,
                                   tools_field=tools_field, template_kwargs=template_kwargs, date=date,
                                   add_generation_prompt=add_generation_prompt)
        return self._text_step(chat).tokenize(tokenizer_id=chosen, field=".", special_tokens=special_tokens,
                                              special_text=True, **more)

    def pack_flat(self, max_length: int, *, algorithm: str = "wrap", num_bins: int | None = None,
                  pad_token_id: int | None = None, emit_positions: bool = True,
                  parallelism: int | None = None) -> Pipeline:
        """max_length: tokens of a row. Labels are delivered beside them, so a row needs no token more than the
            model's context.
        algorithm: "wrap": one document after the other; "best_fit": where they fit, into ``num_bins`` open rows.
        pad_token_id: of places without a token; None: the EOS, else 0.
        Positions are always there; ``parallelism`` has no effect.
        """
        if algorithm not in ("wrap", "best_fit"):
            raise UnsupportedError(f'pack_flat: algorithm is {algorithm!r}, expected "wrap" or "best_fit"')
        pack = {"algorithm": algorithm, "open_rows": num_bins, "pad": pad_token_id}
        return self._with(pack={key: value for key, value in pack.items() if value is not None}, context=max_length)

    def shuffle(self, buffer_size: int, *, seed: int | None = None, parallelism: int | None = None) -> Pipeline:
        """Shuffles rows among ``buffer_size`` of each lane. A stream has one seed: that of the source, this one,
        or, if both are given and differ, a number made of both."""
        return self._with(shuffle_rows=buffer_size, shuffle_seed=seed)

    def batch(self, microbatch_size: int, *, drop_last: bool = True) -> Pipeline:
        """Rows of a batch. A step has ``canonical_replicas`` such batches over all ranks. ``drop_last=False`` pads
        the last step, where the data ends; every batch has all its rows."""
        return self._with(microbatch=microbatch_size, drop_last=drop_last)

    # ---- what it comes to ------------------------------------------------------------------------

    def recipe(self) -> Recipe:
        """The recipe of this definition; its text shows every option."""
        made = Recipe(self._options())
        for key, value in self._definition.recipe.items():
            made.set(key, value)
        return made.add(*self._definition.operators)

    def _options(self) -> dict[str, Any]:
        now = self._definition
        for name, value in (("tokenize", now.tokenizer), ("pack_flat", now.pack), ("batch", now.microbatch)):
            if not value:
                raise InvalidError(f"pipeline: there is no {name}(), expected one")
        lanes = now.dp_degree if now.lanes is None else now.lanes
        if lanes < 1 or now.dp_degree < 1 or lanes % now.dp_degree != 0:
            raise InvalidError(f"options: canonical_replicas is {lanes}, expected a multiple of dp_degree "
                               f"({now.dp_degree})")
        if now.truncate not in (None, now.context):
            raise UnsupportedError(f"tokenize: max_length is {now.truncate} with truncation, expected that of "
                                   f"pack_flat ({now.context})")
        return {**now.source.options(now.text), "seed": self._seed(), "lanes": lanes,
                "global_batch": lanes * now.microbatch, "context": now.context, "tokenizer": now.tokenizer,
                "pack": {**(now.pack or {}), "overflow": "truncate" if now.truncate else "split"},
                "shuffle": {"rows": now.shuffle_rows}, "end": self._end(),
                "runtime": {"dtype": "int64", "microbatch": now.microbatch, **now.runtime}}

    def _end(self) -> str:
        if self._definition.source.repeats:
            return "repeat"
        return "drop" if self._definition.drop_last else "pad"

    def _seed(self) -> int:
        given = {seed for seed in (self._definition.source.seed, self._definition.shuffle_seed) if seed is not None}
        if len(given) < 2:
            return given.pop() if given else 0
        both = f"{self._definition.source.seed} {self._definition.shuffle_seed}".encode()
        return int.from_bytes(hashlib.sha256(both).digest()[:8], "little")

    def validate(self) -> Pipeline:
        """Checks everything that can be checked without reading the data: options, files, tokenizer, budget."""
        self.explain()
        return self

    def explain(self) -> str:
        """The plan, for people: opens the data, starts nothing."""
        return explain(self.recipe(), world=self._definition.dp_degree, state=self._start)

    @property
    def place(self) -> tuple[int, int] | None:
        """``dp_group_id`` and ``dp_degree``; None for one rank alone."""
        now = self._definition
        return None if now.dp_degree == 1 else (now.dp_group_id, now.dp_degree)

    @property
    def agree(self) -> Agree | None:
        """The agreement callback; None where the data does not end."""
        return None if self._definition.source.repeats else self._definition.agree

    # ---- running ---------------------------------------------------------------------------------

    def loader(self) -> Loader:
        """The running pipeline; the first call opens it."""
        if self._loader is None:
            now = self._definition
            self._loader = Loader(self.recipe(), rank=now.dp_group_id, world=now.dp_degree, state=self._start,
                                  agree=self.agree, runner=now.runner, processes=now.processes)
        return self._loader

    def __iter__(self) -> Loader:
        return self.loader()

    def checkpoint(self, after: int | None = None) -> bytes:
        """See ``Loader.checkpoint``."""
        return self.loader().checkpoint(after)

    def restore(self, state: StateLike) -> None:
        """Goes on at a state: before the first batch, or in the middle of a run."""
        if self._loader is None:
            self._start = state
        else:
            self._loader.restore(state)

    def state_dict(self) -> dict[str, bytes]:
        """See ``Loader.state_dict``."""
        return self.loader().state_dict()

    def load_state_dict(self, state: Mapping[str, bytes]) -> None:
        """Goes on at what ``state_dict`` gave."""
        self.restore(state)

    def stats(self) -> dict[str, int]:
        """See ``Loader.stats``."""
        return self.loader().stats()

    def close(self) -> None:
        """Stops all threads. Batches stay valid."""
        if self._loader is not None:
            self._loader.close()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in _ELSEWHERE:
                raise UnsupportedError(f"pipeline: {name}() is not there, use {_ELSEWHERE[name]}")
            raise AttributeError(f"'Pipeline' object has no attribute {name!r}")


def _check_ignored(given: Mapping[str, object]) -> None:
    """Settings that change nothing here: allowed as long as they ask for nothing else."""
    fine: dict[str, tuple[object, ...]] = {
        "add_attention_mask": (True, False), "use_fast": (True, False, None), "padding": (False,),
        "return_tensors": (None,), "preserve_upstream_payload": (False,), "missing_field": ("error",),
        "bos_token_id": (None,), "eos_token_id": (None,), "placement": ("auto",)}
    for name, value in given.items():
        if name not in fine:
            raise TypeError(f"tokenize() got an unexpected keyword argument {name!r}")
        if value not in fine[name]:
            raise UnsupportedError(f"tokenize: {name} is {value!r}, expected {fine[name][0]!r}")


def _name_of(tokenizer: Any, tokenizer_id: PathLike | None) -> Any:
    found = tokenizer_id if tokenizer is None else getattr(tokenizer, "name_or_path", tokenizer)
    if found is None or not str(found):
        raise InvalidError("tokenize: there is no tokenizer_id, expected a path or a name")
    return found


def _tokenizer_of(tokenizer: Any, tokenizer_id: PathLike | None) -> dict[str, str]:
    found = _name_of(tokenizer, tokenizer_id)
    if found in ("bytes", "__fallback__"):
        return {"name": "bytes"}
    return {"path": find_tokenizer(found)}
