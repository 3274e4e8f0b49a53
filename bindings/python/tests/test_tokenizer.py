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
