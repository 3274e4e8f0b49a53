# SPDX-License-Identifier: Apache-2.0
"""The tokenizer alone gives the ids of a pipeline, from any thread; files are found where they should be."""
import threading

import numpy as np
import pytest

import laneway
from conftest import ROOT

FILE = ROOT / "examples" / "data" / "tokenizer.json"


def test_bytes_have_the_ids_they_are():
    tokenizer = laneway.Tokenizer(name="bytes", bos=True, eos=True)
    ids = tokenizer.encode("h\u00e9")
    assert ids.dtype == np.int32 and ids.tolist() == [256, 104, 195, 169, 257]
    assert tokenizer.vocabulary == 258 and tokenizer.encode("").tolist() == [256, 257]


def test_many_texts_are_each_texts_ids():
    tokenizer = laneway.Tokenizer(FILE)
    texts = ["one two", "", "three", "\U0001f600 four"]
    ids, offsets = tokenizer.encode_batch(iter(texts))
    assert ids.dtype == np.int32 and offsets.dtype == np.int64 and offsets.shape == (5,)
    for i, text in enumerate(texts):
        assert ids[offsets[i] : offsets[i + 1]].tolist() == tokenizer.encode(text).tolist()
    assert tokenizer.encode_batch([])[1].tolist() == [0]


def test_tokens_are_found_by_text_and_bytes():
    tokenizer = laneway.Tokenizer(FILE)
    found = tokenizer.find("e")
    assert found == tokenizer.find(b"e") == tokenizer.encode("e")[0]
    assert tokenizer.find("no such token of any vocabulary") is None
    assert tokenizer.fingerprint == laneway.Tokenizer(FILE).fingerprint


def test_threads_share_a_tokenizer():
    tokenizer = laneway.Tokenizer(FILE)
    expected, found = tokenizer.encode("some words to encode").tolist(), []

    def work():
        found.append(all(tokenizer.encode("some words to encode").tolist() == expected for _ in range(200)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_ids_are_the_callers_own():
    tokenizer = laneway.Tokenizer(name="bytes")
    first = tokenizer.encode("abc")
    tokenizer.encode("xyz")
    assert first.tolist() == [97, 98, 99]


def test_lone_surrogates_are_refused():
    with pytest.raises(UnicodeEncodeError):
        laneway.Tokenizer(name="bytes").encode("\ud800")


def test_names_are_found_in_folders_and_in_the_hub_cache(tmp_path, monkeypatch):
    (tmp_path / "here" / "model").mkdir(parents=True)
    (tmp_path / "here" / "model" / "tokenizer.json").write_bytes(FILE.read_bytes())
    (tmp_path / "here" / "gpt2.vocab.bpe").write_text("")
    snapshot = tmp_path / "hub" / "models--org--model" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "tokenizer.json").write_bytes(FILE.read_bytes())
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("abc\n")
    monkeypatch.setenv("LANEWAY_TOKENIZERS", f"{tmp_path / 'none'}:{tmp_path / 'here'}")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert laneway.find_tokenizer("model") == str(tmp_path / "here" / "model" / "tokenizer.json")
    assert laneway.find_tokenizer("gpt2") == str(tmp_path / "here" / "gpt2.vocab.bpe")
    assert laneway.find_tokenizer("org/model") == str(snapshot / "tokenizer.json")
    assert laneway.find_tokenizer(FILE) == str(FILE)
    assert laneway.Tokenizer("org/model").vocabulary == laneway.Tokenizer(FILE).vocabulary
    with pytest.raises(laneway.NotFoundError, match="'other' is no file.*LANEWAY_TOKENIZERS.*Hugging Face"):
        laneway.find_tokenizer("other")


@pytest.mark.parametrize("wrong", [{}, {"path": FILE, "name": "bytes"}])
def test_a_path_or_a_name_is_needed(wrong):
    with pytest.raises(laneway.InvalidError, match="expected one of them"):
        laneway.Tokenizer(**wrong)


def test_decoding_undoes_encoding():
    tokenizer = laneway.Tokenizer(FILE, eos=True)
    text = "Two words, \u00e9t\u00e9 and \U0001f600\n"
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids, skip_special=True) == text
    assert tokenizer.decode(ids.tolist()) == text + tokenizer.token(ids[-1]).decode()
    assert b"".join(tokenizer.token(number) for number in ids[:-1]) == text.encode()
    assert tokenizer.decode([]) == "" and tokenizer.decode_bytes(ids[:0]) == b""
    assert laneway.Tokenizer(name="bytes").decode([0xE2, 0x82]) == "\ufffd"
    with pytest.raises(laneway.InvalidError, match="id"):
        tokenizer.token(tokenizer.vocabulary)


def test_room_grows_to_what_is_needed():
    tokenizer = laneway.Tokenizer(name="bytes", bos=True, eos=True)
    ids, offsets = tokenizer.encode_batch(["x" * 5000] * 3)
    assert offsets.tolist() == [0, 5002, 10004, 15006] and ids.shape == (15006,)
    long = laneway.Tokenizer(FILE)
    number = max(range(long.vocabulary), key=lambda number: len(long.token(number)))
    assert long.decode_bytes([number] * 500) == long.token(number) * 500
