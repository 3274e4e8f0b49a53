# SPDX-License-Identifier: Apache-2.0
"""Compares decoding with tiktoken, tokenizers and sentencepiece; the exit code is 1 when a text differs.

usage: compare_decode.py DRIVER VOCABULARIES CORPUS

Ids are those of texts, slices of them that start and end anywhere, and draws from the vocabulary. A
reference that gives strings can not say which bytes a broken character has, so draws leave out the
byte pieces that would be one.
"""
import array
import os
import random
import struct
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers

import texts
from compare import (CL100K, cl100k_encoding, gpt2_encoding, hf_model, hf_tokenizer, read_ranks, saved)
from compare_pieces import (ESCAPED, SPACES, add_tokens, bpe_model, changed, load, set_normalizer, train, written)


class Decoding:
    """Counts lists of ids, and shows the first whose texts differ."""

    def __init__(self, driver):
        self.driver = driver
        self.failed = 0
        self.compared = 0

    def ours(self, arguments, lists):
        data = b"".join(struct.pack("<I", len(ids)) + array.array("i", ids).tobytes() for ids in lists)
        found = subprocess.run([self.driver] + arguments, input=data, capture_output=True)
        if found.returncode != 0:
            sys.exit("compare_decode: %s: %s" % (arguments, found.stderr.decode().strip()))
        decoded, at = [], 0
        while at < len(found.stdout):
            count, = struct.unpack_from("<I", found.stdout, at)
            decoded.append(found.stdout[at + 4:at + 4 + count])
            at += 4 + count
        return decoded

    def run(self, what, arguments, lists, expected):
        """`expected` is bytes, or strings in which broken characters are U+FFFD."""
        found = self.ours(arguments, lists)
        if expected and isinstance(expected[0], str):
            found = [text.decode("utf-8", "replace") for text in found]
        wrong = [i for i in range(len(lists)) if i >= len(found) or found[i] != expected[i]]
        for i in wrong[:3]:
            print("%s: %s\n  ours %r\n  reference %r" % (what, lists[i][:20], found[i:i + 1], expected[i][:80]))
        self.compared += len(lists)
        self.failed += len(wrong)
        print("%-48s %8d lists  %s" % (what, len(lists), "%d DIFFER" % len(wrong) if wrong else "equal"),
              flush=True)


def parts(lists, count, seed):
    """Slices of lists, empty ones too."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        ids = draw.choice(lists)
        start = draw.randrange(len(ids) + 1)
        found.append(ids[start:start + draw.randrange(12)])
    return found


def draws(ids, count, seed):
    draw = random.Random(seed)
    return [draw.choices(ids, k=draw.randrange(10)) for _ in range(count)]


def compare_tiktoken(decoding, name, path, encoding, batch):
    lists = encoding.encode_ordinary_batch(batch)
    known = sorted([*encoding._mergeable_ranks.values(), *encoding._special_tokens.values()])
    lists += parts(lists, 5000, 1) + draws(known, 5000, 2)
    decoding.run(name + ", tiktoken", ["--path", path, "--decode"], lists,
                 [encoding.decode_bytes(ids) for ids in lists])


def compare_tokenizer(decoding, name, tokenizer, folder, batch, is_drawn):
    path = saved(tokenizer, folder, "decoded.json")
    lists = [encoding.ids for encoding in tokenizer.encode_batch(batch)]
    lists += [list(filter(is_drawn, ids)) for ids in parts(lists, 5000, 3)] + draws([i for i in tokenizer.get_vocab().values() if is_drawn(i)], 5000, 4)
    for skips in (False, True):
        decoding.run(name + (", specials skipped" if skips else ""),
                     ["--path", path, "--decode"] + ["--skip-special"] * skips, lists,
                     tokenizer.decode_batch(lists, skip_special_tokens=skips))


def compare_byte_level(decoding, folder, scratch, batch):
    ranks = read_ranks(os.path.join(folder, "cl100k_base.tiktoken"))
    tokenizer = hf_tokenizer(hf_model(ranks), CL100K % "{1,3}")
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    tokenizer.add_tokens(["<tool>"])
    compare_tokenizer(decoding, "tokenizer.json, byte level", tokenizer, scratch, batch, lambda i: True)


def is_whole(processor):
    """Tells the ids that are no byte of a longer character."""
    return lambda i: not (processor.IsByte(i) and int(processor.IdToPiece(i)[1:-1], 16) >= 0x80)


def compare_model(decoding, name, data, folder, batch):
    processor = load(data)
    path = written(data, folder, "decoded.model")
    lists = processor.encode(batch)
    known = list(filter(is_whole(processor), range(processor.GetPieceSize())))
    lists += [list(filter(is_whole(processor), ids)) for ids in parts(lists, 2000, 5)] + draws(known, 5000, 6)
    first = [i for i in known if processor.IdToPiece(i).startswith(ESCAPED) or processor.IsControl(i)]
    lists += draws(first, 2000, 7)
    decoding.run(name + ", sentencepiece", ["--path", path, "--decode"], lists, processor.decode(lists))


def chains():
    """Names, normalizers, pre-tokenizers and decoders of the known families."""
    replace, prepend = normalizers.Replace(" ", ESCAPED), normalizers.Prepend(ESCAPED)
    undo = [decoders.Replace(ESCAPED, " "), decoders.ByteFallback(), decoders.Fuse()]
    yield ("prepend", normalizers.Sequence([prepend, replace]), None,
           decoders.Sequence(undo + [decoders.Strip(" ", 1, 0)]))
    yield "gemma", replace, None, decoders.Sequence(undo)
    for scheme in ("always", "first", "never"):
        yield ("metaspace " + scheme, None, pre_tokenizers.Metaspace(ESCAPED, scheme, False),
               decoders.Metaspace(ESCAPED, scheme))


def compare_chains(decoding, data, folder, batch):
    whole, size = is_whole(load(data)), load(data).GetPieceSize()
    for name, normalizer, pre_tokenizer, decoder in chains():
        has_bytes = pre_tokenizer is None
        tokenizer = Tokenizer(bpe_model(data, byte_fallback=has_bytes, fuse_unk=True, unk_token="<unk>"))
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        if pre_tokenizer is not None:
            tokenizer.pre_tokenizer = pre_tokenizer
        tokenizer.decoder = decoder
        add_tokens(tokenizer)
        compare_tokenizer(decoding, "tokenizer.json, " + name, tokenizer, folder, batch,
                          lambda i, size=size: i >= size or whole(i))


def compare_trained(decoding, folder, documents, batch):
    data = train(documents, model_type="bpe", vocab_size=3000, character_coverage=0.99,
                 normalization_rule_name="identity", user_defined_symbols=["<sep>", "a b", ESCAPED * 2],
                 unk_surface=" ?? ")
    for prefix in (False, True):
        for collapsed in (False, True):
            change = set_normalizer(add_dummy_prefix=prefix, remove_extra_whitespaces=collapsed)
            name = "bpe%s%s" % (", prefix" if prefix else "", ", spaces dropped" if collapsed else "")
            compare_model(decoding, name, changed(data, change), folder, batch)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    driver, folder, corpus = sys.argv[1:]
    decoding = Decoding(driver)
    documents, _ = texts.documents(corpus, 1e6)
    batch = texts.mixed(5000, 21, SPACES) + documents[:300] + [""]
    with tempfile.TemporaryDirectory(prefix="tokenizer-oracle.") as scratch:
        compare_tiktoken(decoding, "gpt2", os.path.join(folder, "gpt2.vocab.bpe"), gpt2_encoding(folder), batch)
        compare_tiktoken(decoding, "cl100k", os.path.join(folder, "cl100k_base.tiktoken"),
                         cl100k_encoding(folder), batch)
        compare_byte_level(decoding, folder, scratch, batch)
        for version in ("v1", "v3"):
            with open(os.path.join(folder, "mistral.tokenizer.model." + version), "rb") as file:
                data = file.read()
            compare_model(decoding, "mistral " + version, data, scratch, batch)
            compare_chains(decoding, data, scratch, batch)
        compare_trained(decoding, scratch, documents, batch)
    print("%d lists compared, %d differ" % (decoding.compared, decoding.failed))
    sys.exit(1 if decoding.failed else 0)


if __name__ == "__main__":
    main()
