# SPDX-License-Identifier: Apache-2.0
"""Compares encode_driver with tiktoken and tokenizers; the exit code is 1 when any ids differ.

usage: compare.py DRIVER VOCABULARIES CORPUS
"""
import array
import base64
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import tiktoken
import tiktoken_ext.openai_public as published
import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers

import texts

CHUNK = 200000  # texts a call
DOCUMENT_BYTES = 10e6  # of each file of the corpus
CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
CL100K_SHORT = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++"
                r"[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")


class Comparison:
    """Counts strings, by what they were compared with, and shows the first that differ."""

    def __init__(self, driver):
        self.driver = driver
        self.failed = 0
        self.compared = 0

    def ours(self, arguments, batch):
        data = b"".join(struct.pack("<I", len(b)) + b for b in (t.encode("utf-8") for t in batch))
        found = subprocess.run([self.driver] + arguments, input=data, capture_output=True)
        if found.returncode != 0:
            sys.exit("compare: %s: %s" % (arguments, found.stderr.decode().strip()))
        return found.stdout

    def refusal(self, arguments):
        """The line with which a tokenizer is refused; None when it is not."""
        found = subprocess.run([self.driver] + arguments, input=b"", capture_output=True)
        return found.stderr.decode("utf-8", "replace").strip() if found.returncode != 0 else None

    def run(self, what, arguments, reference, batch_of):
        failed = 0
        for start in range(0, len(batch_of), CHUNK):
            batch = batch_of[start:start + CHUNK]
            expected = [array.array("i", ids) for ids in reference(batch)]
            wanted = b"".join(struct.pack("<I", len(ids)) + ids.tobytes() for ids in expected)
            found = self.ours(arguments, batch)
            if wanted != found:
                failed += self.show(what, batch, expected, found)
        self.compared += len(batch_of)
        self.failed += failed
        print("%-44s %8d strings  %s" % (what, len(batch_of), "%d DIFFER" % failed if failed else "equal"),
              flush=True)

    def show(self, what, batch, expected, found):
        at, differing = 0, 0
        for text, wanted in zip(batch, expected):
            count, = struct.unpack_from("<I", found, at)
            ids = array.array("i", found[at + 4:at + 4 + 4 * count])
            at += 4 + 4 * count
            if ids != wanted:
                differing += 1
                if self.failed + differing <= 10:
                    print("%s: %r\n  ours %s\n  reference %s" % (what, text[:80], list(ids[:20]),
                                                                 list(wanted[:20])))
        return differing


def tiktoken_reference(encoding, allow_special=False):
    if allow_special:
        return lambda batch: encoding.encode_batch(batch, allowed_special="all")
    return lambda batch: [encoding.encode_ordinary(text) for text in batch]


def hf_reference(tokenizer):
    return lambda batch: [e.ids for e in tokenizer.encode_batch_fast(batch, add_special_tokens=False)]


def gpt2_encoding(folder):
    load = tiktoken.load.data_gym_to_mergeable_bpe_ranks
    published.data_gym_to_mergeable_bpe_ranks = lambda **_: load(
        os.path.join(folder, "gpt2.vocab.bpe"), os.path.join(folder, "gpt2.encoder.json"))
    return tiktoken.Encoding(**published.gpt2())


def read_ranks(path):
    with open(path, "rb") as file:
        return {base64.b64decode(t): int(r) for t, r in (line.split() for line in file if line.strip())}


def cl100k_encoding(folder):
    ranks = read_ranks(os.path.join(folder, "cl100k_base.tiktoken"))
    published.load_tiktoken_bpe = lambda *_, **__: ranks
    return tiktoken.Encoding(**published.cl100k_base())


def byte_alphabet():
    plain = list(range(0x21, 0x7F)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    shifted = (b for b in range(256) if b not in plain)
    return {**{b: chr(b) for b in plain}, **{b: chr(0x100 + n) for n, b in enumerate(shifted)}}


def two_parts(ranks, token):
    """What a token consists of just before its own rank."""
    parts, limit = [bytes([b]) for b in token], ranks[token]
    while True:
        known = [(ranks.get(parts[i] + parts[i + 1], limit), i) for i in range(len(parts) - 1)]
        rank, at = min(known)
        if rank >= limit:
            return parts
        parts[at:at + 2] = [parts[at] + parts[at + 1]]


def all_splits(ranks):
    """A merge for each way to cut a token into two, in the order that conversions of ranks list them."""
    cuts = [(ranks[t], ranks[t[:i]], ranks[t[i:]], i, t) for t in ranks for i in range(1, len(t))
            if t[:i] in ranks and t[i:] in ranks]
    return [(token[:i], token[i:]) for _, _, _, i, token in sorted(cuts)]


def hf_model(ranks, merges=None, **options):
    alphabet = byte_alphabet()
    text = {token: "".join(alphabet[b] for b in token) for token in ranks}
    if merges is None:
        merges = [two_parts(ranks, t) for t in sorted(ranks, key=ranks.get) if len(t) > 1]
    pairs = [(text[p[0]], text[p[1]]) for p in merges if len(p) == 2]
    return models.BPE({text[t]: r for t, r in ranks.items()}, pairs, **options)


def hf_tokenizer(model, pattern=None, add_prefix_space=False, behavior="isolated"):
    tokenizer = Tokenizer(model)
    if pattern is None:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(pattern), behavior, invert=behavior == "removed"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return tokenizer


def saved(tokenizer, folder, name):
    path = os.path.join(folder, name)
    tokenizer.save(path)
    return path


def gappy_ranks(ranks):
    """Every seventh short token left out: many tokens are then not reached by their merges."""
    kept = [t for t in sorted(ranks, key=ranks.get) if not (1 < len(t) < 5 and ranks[t] % 7 == 0)]
    return {token: rank for rank, token in enumerate(kept[:20000])}


def shuffled_ranks(ranks):
    """Ranks in any order, so that most tokens have parts of a higher rank than their own."""
    longer = [t for t in sorted(ranks, key=ranks.get)[:20000] if len(t) > 1]
    random.Random(8).shuffle(longer)
    return {token: rank for rank, token in enumerate([bytes([b]) for b in range(256)] + longer)}


def write_ranks(ranks, path):
    with open(path, "wb") as file:
        for token, rank in ranks.items():
            file.write(base64.b64encode(token) + b" %d\n" % rank)


def compare_pieces(run, name, ours, encoding):
    """Everything, against tiktoken."""
    reference = tiktoken_reference(encoding)
    run(name + ": code points alone", ours, reference, texts.alone())
    run(name + ": code points in 11 contexts", ours, reference, texts.in_context(16))
    run(name + ": random", ours, reference, texts.mixed(200000, 1))
    run(name + ": white space", ours, reference, texts.whitespace())
    run(name + ": long runs", ours, reference, texts.RUNS)


def compare_hf(run, name, ours, tokenizer):
    reference = hf_reference(tokenizer)
    run(name + ": code points alone", ours, reference, texts.alone(texts.LAST_CLASS))
    run(name + ": code points in 11 contexts", ours, reference, texts.in_context(16))
    run(name + ": random", ours, reference, texts.mixed(100000, 2))
    run(name + ": white space", ours, reference, texts.whitespace())
    run(name + ": long runs", ours, reference, texts.RUNS)


def compare_documents(run, name, ours, reference, corpus, limit_bytes):
    documents, total = texts.documents(corpus, limit_bytes)
    if documents:
        run("%s: documents, %.1f MB" % (name, total / 1e6), ours, reference, documents)


def add_tokens(tokenizer):
    tokenizer.add_special_tokens(["<|endoftext|>", AddedToken("<mask>", lstrip=True),
                                  AddedToken("<s>", rstrip=True), AddedToken("<s", normalized=True)])
    tokenizer.add_tokens(["  ", "<tool>", AddedToken("foo", lstrip=True, rstrip=True, normalized=False),
                          AddedToken("<|end", normalized=False), "<tool>s"])
    return ["<|endoftext|>", "<mask>", " <mask> ", "<s>", "<s", "<tool>", "<tool>s", "foo", "<|end"]


def compare_added(run, ranks, folder):
    for add_prefix_space in (False, True):
        tokenizer = hf_tokenizer(hf_model(ranks), add_prefix_space=add_prefix_space)
        batch = texts.mixed(30000, 3, add_tokens(tokenizer) * 6) + [""]
        path = saved(tokenizer, folder, "added.json")
        name = "added tokens%s" % (", prefix space" if add_prefix_space else "")
        run(name + ", special text", ["--path", path, "--special-text"], hf_reference(tokenizer), batch)
        tokenizer.encode_special_tokens = True
        run(name + ", ordinary text", ["--path", path], hf_reference(tokenizer), batch)


def compare_rules(run, ranks, folder):
    small = dict(sorted(ranks.items(), key=lambda item: item[1])[:20000])
    for name, pattern in (("1 digit", CL100K % ""), ("3 digits", CL100K % "{1,3}"), ("short", CL100K_SHORT)):
        for behavior in ("isolated", "removed"):
            tokenizer = hf_tokenizer(hf_model(small), pattern, behavior=behavior)
            path = saved(tokenizer, folder, "rules.json")
            run("tokenizer.json, %s, %s" % (name, behavior), ["--path", path], hf_reference(tokenizer),
                texts.mixed(20000, 4))


def compare_unreachable(run, ranks, folder):
    for what, changed in (("unreachable tokens", gappy_ranks(ranks)), ("shuffled ranks", shuffled_ranks(ranks))):
        path = os.path.join(folder, "changed.tiktoken")
        write_ranks(changed, path)
        for name, pattern in (("gpt2", published.r50k_pat_str), ("cl100k", CL100K % "{1,3}")):
            encoding = tiktoken.Encoding("changed", pat_str=pattern, mergeable_ranks=changed, special_tokens={})
            run("%s, %s" % (what, name), ["--path", path, "--pattern", name], tiktoken_reference(encoding),
                texts.mixed(50000, 5))
        tokenizer = hf_tokenizer(hf_model(changed, all_splits(changed), ignore_merges=True))
        run(what + ", every split", ["--path", saved(tokenizer, folder, "changed.json")], hf_reference(tokenizer),
            texts.mixed(50000, 6))
    tokenizer = hf_tokenizer(hf_model(gappy_ranks(ranks), ignore_merges=True))
    run("unreachable tokens, ignore_merges", ["--path", saved(tokenizer, folder, "gappy.json")],
        hf_reference(tokenizer), texts.mixed(50000, 6))


def compare_fingerprints(comparison, name, first, second):
    """The same vocabulary from two kinds of file."""
    found = [json.loads(comparison.ours(arguments + ["--time", "1"], []).split(b"\n")[0])["fingerprint"]
             for arguments in (first, second)]
    print("%-44s %s" % (name + ": fingerprints", "equal" if found[0] == found[1] else "DIFFER"))
    comparison.failed += found[0] != found[1]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    driver, folder, corpus = sys.argv[1:]
    comparison = Comparison(driver)
    run = comparison.run
    print("tiktoken %s, tokenizers %s" % (tiktoken.__version__, tokenizers.__version__))
    gpt2, cl100k = gpt2_encoding(folder), cl100k_encoding(folder)
    gpt2_files = ["--path", os.path.join(folder, "gpt2.vocab.bpe")]
    cl100k_file = ["--path", os.path.join(folder, "cl100k_base.tiktoken")]
    with tempfile.TemporaryDirectory(prefix="tokenizer-oracle.") as scratch:
        compare_pieces(run, "gpt2, tiktoken", gpt2_files, gpt2)
        compare_documents(run, "gpt2, tiktoken", gpt2_files, tiktoken_reference(gpt2), corpus, DOCUMENT_BYTES)
        model = models.BPE.from_file(os.path.join(folder, "gpt2.encoder.json"),
                                     os.path.join(folder, "gpt2.vocab.bpe"))
        gpt2_hf = hf_tokenizer(model)
        gpt2_json = ["--path", saved(gpt2_hf, scratch, "gpt2.json")]
        compare_hf(run, "gpt2, tokenizers", gpt2_json, gpt2_hf)
        compare_documents(run, "gpt2, tokenizers", gpt2_json, hf_reference(gpt2_hf), corpus, 3e6)
        compare_fingerprints(comparison, "gpt2", gpt2_files, gpt2_json)

        compare_pieces(run, "cl100k, tiktoken", cl100k_file, cl100k)
        compare_documents(run, "cl100k, tiktoken", cl100k_file, tiktoken_reference(cl100k), corpus,
                          DOCUMENT_BYTES)
        specials = sorted(cl100k.special_tokens_set)
        run("cl100k, tiktoken: special text", cl100k_file + ["--special-text"],
            tiktoken_reference(cl100k, True), texts.mixed(20000, 7, specials * 10))
        cl100k_hf = hf_tokenizer(hf_model(read_ranks(cl100k_file[1])), CL100K % "{1,3}")
        cl100k_json = ["--path", saved(cl100k_hf, scratch, "cl100k.json")]
        compare_hf(run, "cl100k, tokenizers", cl100k_json, cl100k_hf)
        compare_documents(run, "cl100k, tokenizers", cl100k_json, hf_reference(cl100k_hf), corpus, 3e6)

        small = dict(sorted(gpt2._mergeable_ranks.items(), key=lambda item: item[1])[:20000])
        compare_added(run, small, scratch)
        compare_rules(run, read_ranks(cl100k_file[1]), scratch)
        compare_unreachable(run, read_ranks(cl100k_file[1]), scratch)
    print("%d strings compared, %d differ" % (comparison.compared, comparison.failed))
    sys.exit(1 if comparison.failed else 0)


if __name__ == "__main__":
    main()
