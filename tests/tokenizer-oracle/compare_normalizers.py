# SPDX-License-Identifier: Apache-2.0
"""Compares encode_driver with tokenizers on the normalizers of a tokenizer.json, byte-level and of pieces.

usage: compare_normalizers.py DRIVER VOCABULARIES CORPUS

The exit code is 1 when any ids differ.
"""
import os
import sys
import tempfile

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers

import texts
from compare import CL100K, Comparison, hf_model, hf_reference, hf_tokenizer, read_ranks, saved
from compare_pieces import ESCAPED, SPACES, bpe_model, slices, train, unigram_model

CONTEXTS = (("a", "\u0301\u0323b"), ("\u0323", "\u0345\u1161\u11a8"), ("\u1100", " A"))
ADDED = ["<|im_end|>", "<tool_call>", "Éa", "éz", "\ufb01x", " AB", "a  b"]


def sequence(*parts):
    return normalizers.Sequence(list(parts))


def byte_level():
    """Names and normalizers."""
    for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents"):
        yield name, getattr(normalizers, name)()
    yield "Strip left", normalizers.Strip(True, False)
    yield "Strip right", normalizers.Strip(False, True)
    yield "Prepend", normalizers.Prepend("\u00c9x ")
    yield "Replace", normalizers.Replace("ab", "\u00c9b")
    yield "Replace by nothing", normalizers.Replace("a", "")
    yield "Replace, overlapping", normalizers.Replace("aba", "ba")
    for regex in (" {2,}", r"\s+", "b*", r"(?<=a)b|$", "[^a-z]", r"\p{M}+(?!b)"):
        yield "Replace %s" % regex, normalizers.Replace(Regex(regex), "\u00e9_")
    yield "clip", sequence(normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase())
    yield "albert", sequence(normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                             normalizers.StripAccents(), normalizers.Lowercase())
    yield "forms in turn", sequence(normalizers.NFKC(), normalizers.NFD(), normalizers.Lowercase(),
                                    normalizers.NFC(), normalizers.Strip())
    yield "nested", sequence(sequence(normalizers.Lowercase()), normalizers.Prepend(" "), sequence())


def compare_alone(run, name, normalizer, scratch, documents):
    """Where each byte is a token, ids are the bytes of the normalized text."""
    tokenizer = hf_tokenizer(hf_model({bytes([byte]): byte for byte in range(256)}), CL100K % "")
    tokenizer.normalizer = normalizer
    ours = ["--path", saved(tokenizer, scratch, "alone.json")]

    def reference(batch):
        return [list(normalizer.normalize_str(text).encode("utf-8")) for text in batch]

    run(name + ": code points alone", ours, reference, texts.alone())
    for before, after in CONTEXTS:
        run("%s: code points between %a and %a" % (name, before, after), ours, reference,
            [before + c + after for c in texts.alone(texts.LAST_CLASS)])
    run(name + ": letters and marks", ours, reference, texts.marked(50000, 21, [" ", "  ", "\ufdfa"]))
    run(name + ": documents", ours, reference, documents)


def compare_byte_level(run, folder, scratch, documents):
    ranks = read_ranks(os.path.join(folder, "qwen.tiktoken"))
    model = hf_model({token: rank for token, rank in ranks.items() if rank < 3000})
    for name, normalizer in byte_level():
        compare_alone(run, name, normalizer, scratch, documents)
        tokenizer = hf_tokenizer(model, CL100K % "")
        tokenizer.normalizer = normalizer
        tokenizer.add_special_tokens(ADDED[:1])
        tokenizer.add_tokens([AddedToken(text, normalized=text != " AB", rstrip=text == "a  b") for text in ADDED[1:]])
        ours = ["--path", saved(tokenizer, scratch, "normalizer.json"), "--special-text"]
        reference = hf_reference(tokenizer)
        run(name + ": added tokens, letters, marks", ours, reference, texts.marked(5000, 24, ADDED * 2 + [" ", "  "]))
        run(name + ": added tokens, random", ours, reference,
            texts.mixed(5000, 22, ADDED * 3 + ["ab", "aba", "''", "``"]))


def compare_single_words(run, scratch):
    """Each character before and behind a token that is found only where no word goes on."""
    tokenizer = hf_tokenizer(hf_model({bytes([byte]): byte for byte in range(256)}), CL100K % "")
    tokenizer.add_tokens([AddedToken("xy", single_word=True), AddedToken("[q]", single_word=True, lstrip=True),
                          AddedToken("xyz", single_word=True, normalized=False)])
    ours = ["--path", saved(tokenizer, scratch, "words.json")]
    around = texts.alone(texts.LAST_CLASS) + [chr(code) for code in range(0xE0000, 0xE0200)]
    reference = hf_reference(tokenizer)
    run("single_word: code points", ours, reference,
        [" ".join(c + "xy xy" + c for c in around[i:i + 64]) for i in range(0, len(around), 64)])
    run("single_word: random", ours, reference, texts.mixed(20000, 25, ["xy", "[q]", " [q]", "xyz", "x", "-"] * 8))


# ---- of pieces ----

def of_pieces():
    """Names, normalizers and pre-tokenizers."""
    replace, prepend = normalizers.Replace(" ", ESCAPED), normalizers.Prepend(ESCAPED)
    always = pre_tokenizers.Metaspace(ESCAPED, "always")
    yield "llama 2", sequence(prepend, replace), None
    yield "gemma", replace, pre_tokenizers.Split(" ", "merged_with_previous")
    yield "NFKC before", sequence(normalizers.NFKC(), replace, prepend), None
    yield "NFKC behind", sequence(prepend, replace, normalizers.NFKC()), None
    yield "NFKC, Metaspace", normalizers.NFKC(), always
    yield "Strip, Lowercase", sequence(normalizers.Strip(), normalizers.Lowercase()), always
    yield "deberta", sequence(normalizers.Strip(False, True), normalizers.Replace(Regex(" {2,}"), ESCAPED)), always
    yield "first", sequence(normalizers.NFC(), normalizers.Strip(False, True)), pre_tokenizers.Metaspace(
        ESCAPED, "first")


def compare_of_pieces(run, name, model_of, scratch, documents):
    for what, normalizer, pre_tokenizer in of_pieces():
        for normalized in (False, True) if what != "first" else (False,):
            tokenizer = Tokenizer(model_of())
            tokenizer.normalizer = normalizer
            if pre_tokenizer is not None:
                tokenizer.pre_tokenizer = pre_tokenizer
            tokenizer.add_special_tokens([AddedToken(t, normalized=normalized) for t in ("<s>", "</s>", "<unk>")])
            tokenizer.add_tokens([AddedToken("[tool]", normalized=normalized), AddedToken("[\u00c9 b]", normalized=normalized)])
            added = ["<s>", "</s>", "[tool]", " <s> ", "a [tool]b", "[\u00c9 b]"]
            label = "%s, %s%s" % (name, what, ", normalized tokens" if normalized else "")
            path = saved(tokenizer, scratch, "pieces.json")
            batch = texts.mixed(10000, 23, SPACES * 2 + added * 4) + [""] + slices(documents, 3000)
            run(label + ", special text", ["--path", path, "--special-text"], hf_reference(tokenizer), batch)
            tokenizer.encode_special_tokens = True
            batch += texts.in_context(64)[::8] + texts.whitespace()[::8] + documents[::40]
            run(label, ["--path", path], hf_reference(tokenizer), batch)


def compare_pieces(run, scratch, documents):
    options = {"vocab_size": 4000, "byte_fallback": True, "character_coverage": 0.99,
               "normalization_rule_name": "identity"}
    data = train(documents, model_type="bpe", **options)
    compare_of_pieces(run, "bpe", lambda: bpe_model(data, byte_fallback=True, fuse_unk=True, unk_token="<unk>"),
                      scratch, documents)
    scored = train(documents, model_type="unigram", **dict(options, byte_fallback=False))
    compare_of_pieces(run, "unigram", lambda: unigram_model(scored, byte_fallback=False), scratch, documents)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    driver, folder, corpus = sys.argv[1:]
    comparison = Comparison(driver)
    print("tokenizers %s" % tokenizers.__version__)
    documents, _ = texts.documents(corpus, 3e5)
    with tempfile.TemporaryDirectory(prefix="tokenizer-oracle.") as scratch:
        compare_byte_level(comparison.run, folder, scratch, documents)
        compare_single_words(comparison.run, scratch)
        compare_pieces(comparison.run, scratch, documents)
    print("%d strings compared, %d differ" % (comparison.compared, comparison.failed))
    sys.exit(1 if comparison.failed else 0)


if __name__ == "__main__":
    main()
