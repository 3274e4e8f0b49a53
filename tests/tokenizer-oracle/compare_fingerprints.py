# SPDX-License-Identifier: Apache-2.0
"""Fingerprints of one vocabulary from two kinds of file: equal, or there is a text whose ids differ.

usage: compare_fingerprints.py DRIVER VOCABULARIES CORPUS

The pairs are those of docs/tokenizers.md. The exit code is 1 when one is not as it says there.
"""
import array
import json
import os
import struct
import subprocess
import sys
import tempfile

import tiktoken
import tokenizers

import families
from compare import Comparison, all_splits, compare_fingerprints, hf_model, hf_tokenizer, published, read_ranks, saved
from compare_families import TEKKEN, o200k_pattern, published_encoding, tekken_content

# Pairs of families.SUBJECTS, and a text whose ids tell the two apart.
APART = (("qwen", "qwen.json", "e\u0301"), ("qwen3_6", "qwen3_6.json", "e\u0301"),
         ("qwen3_6", "qwen3_6.json", " azzur"), ("mistral v1", "mistral v1.json", " " * 16),
         ("mistral v3", "mistral v3.json", " a"))


def token_texts(driver, path, ids):
    data = b"".join(struct.pack("<I", 1) + array.array("i", [n]).tobytes() for n in ids)
    found = subprocess.run([driver, "--path", path, "--decode"], input=data, capture_output=True, check=True).stdout
    at, texts = 0, []
    while at < len(found):
        count, = struct.unpack_from("<I", found, at)
        texts.append(found[at + 4:at + 4 + count].decode("utf-8"))
        at += 4 + count
    return texts


def special_tokens(driver, name, path, ranks):
    """Texts and ids; what a model has in a row is asked of Laneway itself."""
    if name in ("cl100k", "o200k"):
        make = published.cl100k_base if name == "cl100k" else published.o200k_base
        return published_encoding(ranks, make)._special_tokens
    count = {"llama3": 256, "llama4": 2048, "qwen": 208, "tekken": 1000}[name]
    first = 0 if name == "tekken" else len(ranks)
    return dict(zip(token_texts(driver, path, range(first, first + count)), range(first, first + count)))


def put_specials(path, specials, in_model):
    """Special tokens at their ids; in the model's vocabulary where ids have holes, else beside it."""
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    for text, number in sorted(specials.items(), key=lambda item: item[1]):
        if in_model:
            content["model"]["vocab"][text] = number
        content["added_tokens"].append({"id": number, "content": text, "special": True, **flags})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


def equal_pairs(folder):
    """Names, files of ranks, ranks by token, and patterns of those whose tokenizer.json is the same tokenizer."""
    for name in ("cl100k", "o200k", "llama3", "llama4", "qwen"):
        file, pattern = families.RANKS[name]
        path = os.path.join(folder, file)
        yield name, path, read_ranks(path), pattern or o200k_pattern()
    ranks, _, ahead = tekken_content(folder)
    path = os.path.join(folder, "mistral.tekken_240911.json")
    yield "tekken", path, {token: rank + ahead for token, rank in ranks.items()}, TEKKEN


def compare_equal(comparison, folder, scratch):
    for name, path, ranks, pattern in equal_pairs(folder):
        specials = special_tokens(comparison.driver, name, path, ranks)
        is_llama = name.startswith("llama")  # these take whole pieces first
        every = hf_model(ranks, all_splits(ranks), ignore_merges=is_llama)
        forms = {"every split": every} if is_llama else {"one merge a token": hf_model(ranks), "every split": every}
        for what, model in forms.items():
            form = saved(hf_tokenizer(model, pattern), scratch, "form.json")
            put_specials(form, specials, not is_llama)
            compare_fingerprints(comparison, "%s, %s" % (name, what), ["--path", path], ["--path", form])


def compare_apart(comparison, folder, scratch):
    for first, second, text in APART:
        subjects = list(families.subjects(folder, scratch, (first, second)))
        ids = [comparison.ours(subject.arguments, [text]) for subject in subjects]
        is_apart = ids[0] != ids[1]
        print("%-44s %a %s" % ("%s and %s" % (first, second), text, "apart" if is_apart else "SAME"), flush=True)
        comparison.failed += not is_apart


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    driver, folder, _ = sys.argv[1:]
    comparison = Comparison(driver)
    print("tiktoken %s, tokenizers %s" % (tiktoken.__version__, tokenizers.__version__))
    with tempfile.TemporaryDirectory(prefix="tokenizer-oracle.") as scratch:
        compare_equal(comparison, folder, scratch)
        compare_apart(comparison, folder, scratch)
    sys.exit(1 if comparison.failed else 0)


if __name__ == "__main__":
    main()
