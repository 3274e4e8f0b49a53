# SPDX-License-Identifier: Apache-2.0
"""Opening tokenizers: GPT-2 in its two files, and o200k, of which a large tokenizer.json is made here."""
import base64
import json
import os
import subprocess
import time

from measure import at_most, in_turn, median

GOAL_GPT2_MS = 60
GOAL_LARGEST_MS = 300
RUNS = 7
PATTERN = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])


def alphabet():
    """The characters that a tokenizer.json writes bytes with."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    shifted = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(0x100 + n) for n, byte in enumerate(shifted)}}


def write_json(ranks_path, path):
    """The tokenizer.json of ranks, with a merge for every split of every token; as large as they get."""
    with open(ranks_path, "rb") as file:
        ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, file)}
    characters = alphabet()
    text = {token: "".join(characters[byte] for byte in token) for token in ranks}
    merges = [[text[token[:cut]], text[token[cut:]]] for token in sorted(ranks, key=ranks.get)
              for cut in range(1, len(token)) if token[:cut] in ranks and token[cut:] in ranks]
    split = {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    content = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
               "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]}, "post_processor": None,
               "decoder": {"type": "ByteLevel"},
               "model": {"type": "BPE", "vocab": {text[token]: rank for token, rank in ranks.items()},
                         "merges": merges}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, indent=1)
    return path


def milliseconds(lab, tokenizer, texts):
    """A whole process that opens a tokenizer and encodes nothing."""
    line = [lab.program, "tokenize", "--tokenizer", tokenizer, "--count", texts]
    begin = time.perf_counter()
    subprocess.run(line, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3


def figures(lab):
    ranks = os.path.join(lab.tokenizers, "o200k_base.tiktoken")
    large = write_json(ranks, lab.path("large.tokenizer.json"))
    texts = lab.path("nothing.jsonl")
    with open(texts, "w", encoding="utf-8"):
        pass
    paths = {"GPT-2": lab.gpt2()["path"], "ranks": ranks, "json": large}
    results = lab.keep("tokenizer_opening", in_turn(RUNS, {
        name: lambda path=path: milliseconds(lab, path, texts) for name, path in paths.items()}))
    megabytes = os.path.getsize(large) / 1e6
    yield at_most("GPT-2 opens, whole process, ms", median(results["GPT-2"]), GOAL_GPT2_MS, "{:.0f}")
    yield at_most("o200k, ranks, ms", median(results["ranks"]), GOAL_LARGEST_MS, "{:.0f}")
    yield at_most(f"o200k, tokenizer.json of {megabytes:.0f} MB, ms", median(results["json"]), GOAL_LARGEST_MS,
                  "{:.0f}")
