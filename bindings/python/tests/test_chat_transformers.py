# SPDX-License-Identifier: Apache-2.0
"""Ids and masks of conversations against those of transformers, where that is installed."""
import json
import random

import pytest

import laneway
from chat_templates import SPECIAL, TEMPLATES, WORDS, record, without_tags, write
from laneway import Dataset, Pipeline, StatefulTransform, StaticMixtureWorkSource

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers  # noqa: E402

COUNT = 120


def byte_level(normalizer, pattern):
    made = tokenizers.Tokenizer(models.BPE())
    if normalizer is not None:
        made.normalizer = normalizer
    made.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False, trim_offsets=False)])
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(texts(), trainers.BpeTrainer(
        vocab_size=420, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return made


def pieces():
    """A SentencePiece vocabulary in a tokenizer.json: escaped spaces, a prefix, bytes for what is unknown."""
    bytes_of = [f"<0x{byte:02X}>" for byte in range(256)]
    made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.train_from_iterator(texts(), trainers.BpeTrainer(vocab_size=560, special_tokens=SPECIAL + bytes_of,
                                                          limit_alphabet=60, show_progress=False))
    state = json.loads(made.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if token["content"] in SPECIAL]
    state["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    return tokenizers.Tokenizer.from_str(json.dumps(state))


def texts():
    source = random.Random("texts")
    return ["".join(source.choice(WORDS) + " " for _ in range(30)) for _ in range(200)]


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")

TOKENIZERS = {"gpt2": lambda: byte_level(None, GPT2), "llama3": lambda: byte_level(None, LLAMA3),
              "nfc": lambda: byte_level(normalizers.NFC(), GPT2), "pieces": pieces}


@pytest.fixture(scope="module", params=sorted(TOKENIZERS))
def tokenizer(request, tmp_path_factory):
    """A tokenizer of transformers, and its folder."""
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=TOKENIZERS[request.param](), bos_token="<s>", eos_token="</s>", unk_token="<unk>",
        additional_special_tokens=SPECIAL[3:])
    folder = tmp_path_factory.mktemp(request.param)
    made.save_pretrained(folder)
    return made, folder


class Collect(StatefulTransform):
    """Keeps what it sees: ids and which of them are learnt."""

    def __init__(self):
        self.seen = []

    def push(self, state, document, out):
        self.seen.append((document.tokens.tolist(), document.supervised.astype(int).tolist()))
        out.put(document)


def laneway_documents(path, folder, **chat):
    seen = Collect()
    pipeline = (Pipeline(StaticMixtureWorkSource([Dataset.from_path("chats", path)], shuffle_shards=False))
                .tokenize_chat(tokenizer_id=folder, **chat).stateful_transform(seen, group=1)
                .pack_flat(max_length=64).batch(microbatch_size=1, drop_last=False))
    with pipeline:
        for _batch in pipeline:
            pass
    return seen.seen


def generated(tokenizer, one):
    """What transformers gives with the tags of the template."""
    found = tokenizer.apply_chat_template(one["messages"], tools=one.get("tools"), tokenize=True, return_dict=True,
                                          return_assistant_tokens_mask=True)
    return found["input_ids"], found["assistant_masks"]


def by_difference(tokenizer, one, roles=("assistant",)):
    """The ids of the whole text; those whose characters a turn adds to the text of the turns before it."""
    messages = one["messages"]

    def text_of(count, prompt=False):
        return "" if count == 0 else tokenizer.apply_chat_template(messages[:count], tools=one.get("tools"), tokenize=False,
                                             add_generation_prompt=prompt)

    encoded = tokenizer(text_of(len(messages)), add_special_tokens=False, return_offsets_mapping=True)
    spans = [(len(text_of(turn, message["role"] == "assistant")), len(text_of(turn + 1)))
             for turn, message in enumerate(messages) if message["role"] in roles]
    mask = [int(any(first < end and last > begin for begin, end in spans))
            for first, last in encoded["offset_mapping"]]
    return encoded["input_ids"], mask


@pytest.mark.parametrize("name", sorted(TEMPLATES))
@pytest.mark.parametrize("tagged", [True, False])
def test_ids_and_masks_are_those_of_transformers(tokenizer, tmp_path, name, tagged):
    reference, folder = tokenizer
    source = random.Random(f"{folder.name} {name} {tagged}")
    records = [record(source) for _ in range(COUNT)]
    template = TEMPLATES[name] if tagged else without_tags(TEMPLATES[name])
    reference.chat_template = template
    expected = [(generated if tagged else by_difference)(reference, one) for one in records]
    found = laneway_documents(write(tmp_path / "chats.jsonl", records), folder, template=template)
    assert len(found) == len(expected)
    assert sum(sum(mask) for _ids, mask in expected) > COUNT
    for one, (ids, mask), (wanted_ids, wanted_mask) in zip(records, found, expected):
        assert ids == wanted_ids, one
        assert mask == wanted_mask, one


@pytest.mark.parametrize("roles", [["user"], ["user", "assistant"], ["system", "assistant"]])
def test_masks_of_other_roles(tokenizer, tmp_path, roles):
    reference, folder = tokenizer
    source = random.Random(f"{folder.name} {roles}")
    records = [record(source) for _ in range(COUNT)]
    reference.chat_template = TEMPLATES["chatml"]
    expected = [by_difference(reference, one, roles) for one in records]
    found = laneway_documents(write(tmp_path / "chats.jsonl", records), folder, template=TEMPLATES["chatml"], mask=roles)
    assert found == [(list(ids), mask) for ids, mask in expected]


def test_the_template_and_the_tokens_are_those_beside_the_tokenizer(tokenizer, tmp_path):
    reference, folder = tokenizer
    reference.chat_template = TEMPLATES["headers"]
    saved = tmp_path / "saved"
    reference.save_pretrained(saved)
    records = [record(random.Random(folder.name))]
    assert laneway_documents(write(tmp_path / "chats.jsonl", records), saved) == \
        [tuple(map(list, generated(reference, one))) for one in records]
