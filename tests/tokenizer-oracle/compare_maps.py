# SPDX-License-Identifier: Apache-2.0
"""Compares encode_driver with tokenizers on files with a Precompiled normalizer: its grapheme clusters, and the
families that have one, with vocabularies trained here on the corpus.

usage: compare_maps.py DRIVER VOCABULARIES CORPUS
"""
import os
import random
import sys
import tempfile

import tokenizers
from sentencepiece import sentencepiece_model_pb2 as model_format
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors

import texts
from compare import CL100K, Comparison, hf_model, hf_reference, hf_tokenizer, saved
from compare_pieces import ESCAPED, SPACES, bpe_model, slices, train, unigram_model

# What a map has that shows clusters: a short one that starts with one of these loses what is behind it.
PROBES = {0x58: "x", 0xA9: "c", 0x600: "p", 0x915: "k", 0x1100: "l", 0x1161: "v", 0x11A8: "t", 0xAC00: "g",
          0xAC01: "h", 0x903: "s", 0x300: "e", 0x200D: "z", 0x1F1E6: "r"}

# A character of each break class in its place would join, or end, what stands around it.
AROUND = ["X%s", "%sX\u0308", "X\u200d%sX\u0308", "\u00a9\u200d%s", "%s\u200d\u00a9\u0308", "\u0915\u094d%sk",
          "\u0915%s\u0915\u0308", "\u0915%s\u094d\u0915\u0308", "%s\u094d\u0915\u0308", "\u0915\u094d%s\u0308",
          "%s\u11a8\u0308", "%s\u1161\u0308", "%s\u1100\u0308", "%s\uac00\u0308", "\u1100%s\u0308", "\u1161%s\u0308",
          "\u11a8%s\u0308", "X%sX\u0308", "\u00a9%s\u200d\u00a9\u0308", "\u0600%s", "%s\u0300\u0308"]

# Of each break class one or more, with those that maps change, drop or make longer.
CLUSTERS = list("aX\u00a9\u0600\u0915\u094d\u093c\u200c\u1100\u1161\u11a8\uac00\uac01\u0903\u0300\u0308\u200d\r\n \u0001"
                "\u0345\x00\u0e33\u0d4e\ufb01\u2121\u00a8\u2764\ufe0f\u212b\u0e01\u200b\u3000\uff76\uff9e") + [
    "\U0001f1e6", "\U0001f1e7", "\U0001f468", "\U0001f3fb", "\u1b05\u1b44\u1b13", "e\u0301", "\U0001f469\u200d\U0001f4bb",
    "\U00011133", "\U000e0061", "\U000e0001"]

# Tokens that are looked for in the form that a map gives them.
ADDED = ["\ufb01x", "\u00c9a", "Xa", "e\u0301", "\u00a9 b", "\u0e33"]


def clusters(count, seed, extra=()):
    generator = random.Random(seed)
    atoms = CLUSTERS + list(extra)
    return ["".join(generator.choices(atoms, k=generator.randint(1, 10))) for _ in range(count)]


def map_of(data):
    model = model_format.ModelProto()
    model.ParseFromString(data)
    return model.normalizer_spec.precompiled_charsmap


def maps(scratch):
    """Names and maps: of the probes, and those that sentencepiece has."""
    words = ["hello world this is", "some text here"] * 50
    path = os.path.join(scratch, "probes.tsv")
    with open(path, "w", encoding="utf-8") as file:
        for code, becomes in PROBES.items():
            file.write("%X\t%X\n" % (code, ord(becomes)))
    yield "probes", map_of(train(words, vocab_size=30, normalization_rule_tsv=path))
    for name in ("nmt_nfkc", "nmt_nfkc_cf", "nfkc_cf"):
        yield name, map_of(train(words, vocab_size=30, normalization_rule_name=name))


def compare_clusters(run, scratch):
    """Where each byte is a token, ids are the bytes of the normalized text."""
    around = texts.alone(texts.LAST_CLASS) + [chr(code) for code in range(0xE0000, 0xE1100)]
    for name, table in maps(scratch):
        normalizer = normalizers.Precompiled(table)
        tokenizer = hf_tokenizer(hf_model({bytes([byte]): byte for byte in range(256)}), CL100K % "")
        tokenizer.normalizer = normalizer
        ours = ["--path", saved(tokenizer, scratch, "alone.json")]

        def reference(batch, normalizer=normalizer):
            return [list(normalizer.normalize_str(text).encode("utf-8")) for text in batch]

        run(name + ": code points alone", ours, reference, texts.alone())
        run(name + ": code points in 21 contexts", ours, reference,
            ["\n".join(context % c for context in AROUND) for c in around])
        run(name + ": clusters", ours, reference, clusters(200000, 31))
        run(name + ": letters and marks", ours, reference, texts.marked(50000, 32))
        tokenizer.add_tokens([AddedToken(text, normalized=True) for text in ADDED])
        run(name + ": added tokens", ["--path", saved(tokenizer, scratch, "added.json")], hf_reference(tokenizer),
            clusters(50000, 35, ADDED * 6))


# ---- families ----

def sequence(*parts):
    return normalizers.Sequence(list(parts))


def spaced(*parts):
    return pre_tokenizers.Sequence(list(parts))


def families(table):
    """Names, kinds of model, normalizers, pre-tokenizers and templates of a text."""
    precompiled = normalizers.Precompiled(table)
    stripped, runs = normalizers.Strip(False, True), Regex(" {2,}")
    words = pre_tokenizers.WhitespaceSplit()
    always = pre_tokenizers.Metaspace(ESCAPED, "always")
    quotes = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    yield "t5", unigram_model, sequence(precompiled, stripped, normalizers.Replace(runs, ESCAPED)), always, "$A </s>"
    yield ("t5, not legacy", unigram_model, sequence(precompiled, stripped, normalizers.Replace(runs, ESCAPED)),
           pre_tokenizers.Metaspace(ESCAPED, "first", False), "$A </s>")
    yield "xlm-r", unigram_model, precompiled, spaced(words, always), "<s> $A </s>"
    yield ("albert", unigram_model, sequence(*quotes, normalizers.NFKD(), normalizers.StripAccents(),
                                             normalizers.Lowercase(), precompiled, normalizers.Replace(runs, " ")),
           spaced(words, always), "<s> $A </s>")
    yield ("pegasus", unigram_model, sequence(precompiled, normalizers.Replace(runs, " ")),
           spaced(words, pre_tokenizers.Metaspace(ESCAPED, "always", False)), "$A </s>")
    yield "nllb", bpe_model, precompiled, spaced(words, always), "<s> $A </s>"
    yield ("deberta", unigram_model, sequence(stripped, precompiled, normalizers.Replace(runs, ESCAPED)),
           spaced(pre_tokenizers.Punctuation("isolated"), always), "<s> $A </s>")
    yield ("nmt", unigram_model, sequence(normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(runs, " ")),
           spaced(always), "$A </s>")
    yield ("digits and never", bpe_model, precompiled,
           spaced(pre_tokenizers.Digits(True), pre_tokenizers.Metaspace(ESCAPED, "never")), "$A </s>")


def add_tokens(tokenizer, normalized):
    named = ("<s>", "</s>", "<unk>", "<extra_id_0>")
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in named])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("[tool]", normalized=normalized)])
    return list(named) + ["<mask>", " <mask> ", "[tool]", "a [tool]b"]


def compare_families(run, scratch, documents):
    options = {"vocab_size": 4000, "byte_fallback": False, "character_coverage": 0.995,
               "normalization_rule_name": "nmt_nfkc"}
    data = {unigram_model: train(documents, model_type="unigram", **options),
            bpe_model: train(documents, model_type="bpe", **options)}
    fields = {unigram_model: {"byte_fallback": False}, bpe_model: {"unk_token": "<unk>", "fuse_unk": True}}
    for name, model_of, normalizer, pre_tokenizer, template in families(map_of(data[bpe_model])):
        tokenizer = Tokenizer(model_of(data[model_of], **fields[model_of]))
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
        added = add_tokens(tokenizer, name != "t5, not legacy")
        tokenizer.post_processor = processors.TemplateProcessing(
            template, special_tokens=[(text, tokenizer.token_to_id(text)) for text in ("<s>", "</s>")])
        compare_family(run, name, tokenizer, saved(tokenizer, scratch, "family.json"), added, documents, template)


def compare_family(run, name, tokenizer, path, added, documents, template):
    ours, reference = ["--path", path], hf_reference(tokenizer)
    batch = texts.mixed(50000, 33, SPACES * 2 + added * 4) + clusters(50000, 34, added) + [""]
    run(name + ": special text", ours + ["--special-text"], reference, batch)
    tokenizer.encode_special_tokens = True
    run(name + ": code points alone", ours, reference, texts.alone(texts.LAST_CLASS))
    run(name + ": code points in 11 contexts", ours, reference, texts.in_context(64))
    run(name + ": random", ours, reference, batch)
    run(name + ": white space", ours, reference, texts.whitespace())
    run(name + ": long runs", ours, reference, texts.RUNS)
    run(name + ": documents", ours, reference, documents)
    ends = (["--bos", ""] if template.startswith("<s>") else []) + ["--eos", ""]
    run(name + ": cut documents, BOS and EOS", ours + ends,
        lambda batch: [e.ids for e in tokenizer.encode_batch_fast(batch, add_special_tokens=True)],
        slices(documents, 20000))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    driver, _, corpus = sys.argv[1:]
    comparison = Comparison(driver)
    print("tokenizers %s" % tokenizers.__version__)
    documents, _ = texts.documents(corpus, 1e6)
    with tempfile.TemporaryDirectory(prefix="tokenizer-oracle.") as scratch:
        compare_clusters(comparison.run, scratch)
        compare_families(comparison.run, scratch, documents)
    print("%d strings compared, %d differ" % (comparison.compared, comparison.failed))
    sys.exit(1 if comparison.failed else 0)


if __name__ == "__main__":
    main()
