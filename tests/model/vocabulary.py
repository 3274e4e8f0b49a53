# SPDX-License-Identifier: Apache-2.0
"""A random byte-level BPE vocabulary, written as a tokenizer.json."""

import collections
import json

import texts
import tokens

BOS = "<|begin|>"
EOS = "<|endoftext|>"


def learn_merges(words, count):
    """The merges that byte pair encoding learns from some pre-tokens."""
    merges = []
    for _ in range(count):
        pairs = collections.Counter(pair for word in words for pair in zip(word, word[1:]))
        if not pairs:
            break
        pair = max(pairs, key=lambda p: (pairs[p], p))
        merges.append(pair)
        words = [merged(word, pair) for word in words]
    return merges


def merged(word, pair):
    """A word with every place of a pair made one part."""
    parts = []
    for part in word:
        if parts and (parts[-1], part) == pair:
            parts[-1] += part
        else:
            parts.append(part)
    return parts


def write(random, path):
    """Write a vocabulary of all bytes, some merges, BOS and EOS."""
    names = tokens.byte_characters()
    sample = "".join(texts.text(random) for _ in range(30))
    words = [[names[byte] for byte in piece.encode()] for piece in tokens.pieces_of(sample)]
    merges = learn_merges(words, random.randint(1, 60))
    vocabulary = list(names.values())
    random.shuffle(vocabulary)
    vocabulary += dict.fromkeys(a + b for a, b in merges)
    ids = {token: i for i, token in enumerate(dict.fromkeys(vocabulary))}
    merge_texts = [[a, b] for a, b in merges] if random.random() < 0.5 else [f"{a} {b}" for a, b in merges]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tokenizer_json(ids, merge_texts), file, ensure_ascii=random.random() < 0.5)


def added_token(number, content):
    """A special token as tokenizer.json lists it."""
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True}


def tokenizer_json(ids, merges):
    """The whole file."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [added_token(len(ids) + i, content) for i, content in enumerate((BOS, EOS))],
            "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "ignore_merges": False, "vocab": ids, "merges": merges}}
