# SPDX-License-Identifier: Apache-2.0
"""Patterns and pre_tokenizers that no family has: families of tokenizer.json files made of the vocabularies at
hand, and every construct of a regex that is taken, with every behavior of a Split.

usage: compare_steps.py DRIVER VOCABULARIES CORPUS [PART ...]
"""
import os
import sys
import tempfile

import tiktoken
import tokenizers
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

import texts
from compare import (CL100K, Comparison, byte_alphabet, compare_documents, hf_reference, saved, tiktoken_reference,
                     write_ranks)

DOCUMENT_BYTES = 3e5  # of each file of the corpus
BEHAVIORS = ("isolated", "removed", "contiguous", "merged_with_previous", "merged_with_next")
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
CJK = "[一-龥ࠀ-一가-퟿]+"
DEEPSEEK_LETTERS = r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-Ֆ]+"

CATEGORIES = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf",
              "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "L", "M", "N", "P", "S", "Z", "Han",
              "Hiragana", "Katakana", "Hangul"]

# One for each construct, and some of what real files have.
BOTH = [
    r"a", r"a|b|", r"\p{L}+", r"\P{L}+", r"\p{^N}+", r"[^\p{L}\s]+", r".", r".+", r"\d+", r"\D", r"\s+", r"\S+",
    r"\w+", r"\W+", r"\bx?", r"\B.", r"[a-z&&[^aeiou]]+", r"[^a-z&&[\p{L}]]+", r"[\p{L}&&\p{Lu}]", r"[\]\[\-a]",
    r"[-a]", r"[a-]", r"(?i)'s|'RE|k+", r"(?i:'s|'t|x)|y", r"(?:(?i:a)|b)c", r"\s+(?!\S)|\s+", r"(?<=a)\s",
    r"(?<!\p{L})\p{L}", r"(?=\d{2})\d", r"(?>a+)b?", r"\p{L}{2}", r"\p{L}{2,}", r"\p{L}{1,3}", r"\p{L}+?",
    r"\p{L}*?x", r"\p{L}++", r" ?+\p{L}", r"(a|b)+", r"(?<name>a)b?", r"\n|\t|\r|\x20", r"\u2019|\x{4E2D}",
    r"^\s*", r"\s*$", r"\A.", r".\z", r"[\s\S]", r"\.|\?|\\", r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"[\p{Han}]+|[^\s\p{Han}]+|\s+", r"中|文", r"[一-龥]+", r"[0-9][0-9][0-9]", r"[\t-\r ]+",
]
ONIGURUMA = [r"\p{N}{1,3}+", r"\s+$", r"^\p{L}", r"a{0,2}+b", r".\Z", r"(?=(\d{3})+(?!\d))", r"x*", r"[^(\s|[.,!?])]+",
             BLOOM, CJK, DEEPSEEK_LETTERS, r"\s?\p{P}+", r"[\r\n]", r"[!-/:-~！-／：-～‘-‟　-。]+"]
FANCY = [r"\p{N}{1,3}+|.", r"\s+$|\S", r"\p{L}{2}?|.", r"\s++$|\S+|\s"]
# A file may have these; they would have to mean the same, and so are refused.
REFUSED = [r"(a)\1", r"\h", r"\R", r"\X", r"\K", r"\G", r"[[:alpha:]]", r"(?x) a", r"(?m).", r"a**", r"\p{Greek}",
           r"(?<=a+)b", r"(?i)\p{L}", r"(?i)é", r"(?i)ss", r"(a", r"[a", r"a(?i)b", r"[a--b]", r"\p{N}{2}?", r"{", ""]


def pair_model(batch):
    """Any two bytes that stand together in a text merge, so a cut between them shows."""
    alphabet = byte_alphabet()
    letters = [alphabet[b] for b in range(256)]
    data = "\n".join(batch).encode("utf-8")
    pairs = sorted({(alphabet[a], alphabet[b]) for a, b in zip(data, data[1:])})
    ids = {text: n for n, text in enumerate(letters + [a + b for a, b in pairs])}
    return models.BPE(ids, pairs)


def byte_level(use_regex=False, add_prefix_space=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, use_regex=use_regex)


def sequence(*parts):
    return pre_tokenizers.Sequence(list(parts))


def split(regex, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(regex), behavior, invert)


def families():
    digits = pre_tokenizers.Digits
    return {
        "starcoder": (None, sequence(digits(True), byte_level(True))),
        "command-r": (normalizers.NFC(), sequence(digits(True), byte_level(True))),
        "gpt-neox": (normalizers.NFC(), byte_level(True)),
        "olmo": (normalizers.NFC(), sequence(byte_level(True))),
        "phi-4": (None, sequence(split(CL100K % "{1,3}"), byte_level())),
        "bloom": (None, sequence(split(BLOOM), byte_level())),
        "behind bytes": (None, sequence(byte_level(True), digits(False), split("[0-9][0-9][0-9]"))),
        "deepseek-coder": (None, sequence(split(r"[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(CJK),
                                          digits(True), byte_level())),
        "deepseek-llm": (None, sequence(split(r"[\r\n]"), split(DEEPSEEK_LETTERS),
                                        split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"), split(r"\s+$"), split(CJK),
                                        digits(True), byte_level())),
        "cl100k behind digits": (None, sequence(digits(False), split(CL100K % ""), byte_level())),
        "prefix space": (None, sequence(byte_level(True, True), split(r"\p{L}{3}"))),
        "falcon": (None, sequence(pre_tokenizers.Punctuation("contiguous"), byte_level(True), digits(False),
                                  split("[0-9][0-9][0-9]"))),
        "whitespace": (None, sequence(pre_tokenizers.Whitespace(), byte_level())),
        "whitespace split": (None, sequence(pre_tokenizers.WhitespaceSplit(), byte_level(True))),
    }


def compare_pieces(run, name, ours, reference, mixed_count):
    run(name + ": random", ours, reference, texts.mixed(mixed_count, 21) + texts.marked(mixed_count // 10, 22))
    run(name + ": long runs", ours, reference, texts.RUNS)
    run(name + ": code points in 11 contexts", ours, reference, texts.in_context(16)[::8])


def compare_families(comparison, folder, scratch, corpus):
    model = models.BPE.from_file(os.path.join(folder, "gpt2.encoder.json"), os.path.join(folder, "gpt2.vocab.bpe"))
    for name, (normalizer, pre_tokenizer) in families().items():
        tokenizer = Tokenizer(model)
        tokenizer.pre_tokenizer = pre_tokenizer
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        tokenizer.add_special_tokens(["<|endoftext|>"])
        ours = ["--path", saved(tokenizer, scratch, "family.json"), "--special-text"]
        compare_pieces(comparison.run, name, ours, hf_reference(tokenizer), 50000)
        compare_documents(comparison.run, name, ours, hf_reference(tokenizer), corpus, DOCUMENT_BYTES)


def compare_split(comparison, model, part, name, scratch, batch):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = sequence(part, byte_level())
    ours = ["--path", saved(tokenizer, scratch, "split.json")]
    comparison.run(name, ours, hf_reference(tokenizer), batch)


def compare_regexes(comparison, _, scratch, __):
    batch = texts.mixed(2000, 23) + texts.marked(100, 24) + texts.RUNS[-3:]
    model = pair_model(batch)
    for regex in ONIGURUMA + BOTH:
        for behavior in BEHAVIORS if regex in (BLOOM, r"x*", r"\s+", r"a|b|") else BEHAVIORS[:1]:
            for invert in (False, True):
                name = "%s %s%s" % (regex[:24], behavior, " inverted" if invert else "")
                compare_split(comparison, model, split(regex, behavior, invert), name, scratch, batch)
    for text in (" ", "ab", "'s", ".", "中", "()"):
        for behavior in BEHAVIORS:
            part = pre_tokenizers.Split(text, behavior)
            compare_split(comparison, model, part, "String %s %s" % (text, behavior), scratch, batch)
    for behavior in BEHAVIORS:
        compare_split(comparison, model, pre_tokenizers.Punctuation(behavior), "Punctuation " + behavior, scratch, batch)
    compare_split(comparison, model, pre_tokenizers.CharDelimiterSplit("."), "CharDelimiterSplit", scratch, batch)


def compare_classes(comparison, _, scratch, __):
    """Every code point in or out of each class, between letters that show the cut."""
    chosen = [c for c in texts.alone() if ord(c) < texts.LAST_CLASS or ord(c) % 16 == 0]
    batch = ["".join("a%sb" % c for c in chosen[i:i + 64]) for i in range(0, len(chosen), 64)]
    model = pair_model(batch)
    for regex in [r"\p{%s}+" % c for c in CATEGORIES] + [r"\w", r"\d", r"\s", r"(?i:s)", r"(?i)[k-s]", r"\b"]:
        compare_split(comparison, model, split(regex), "classes: " + regex, scratch, batch)
    for part in (pre_tokenizers.Digits(True), pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()):
        compare_split(comparison, model, part, "classes: %s" % type(part).__name__, scratch, batch)


def compare_patterns(comparison, _, scratch, __):
    """Regexes given for ranks, whose gaps tiktoken drops."""
    ranks = {bytes([b]): b for b in range(256)}
    ranks.update({bytes([a, b]): 256 + n for n, (a, b) in enumerate((a, b) for a in range(256) for b in range(256))})
    path = os.path.join(scratch, "pairs.tiktoken")
    write_ranks(ranks, path)
    batch = texts.mixed(3000, 25) + texts.marked(500, 26)
    for regex in [r for r in BOTH if r not in (r"a", r"a|b|", r"\bx?", r"^\s*", r"\s*$", r"\p{^N}+")] + FANCY:
        encoding = tiktoken.Encoding("pairs", pat_str=regex, mergeable_ranks=ranks, special_tokens={})
        comparison.run("pattern " + regex[:30], ["--path", path, "--pattern", regex], tiktoken_reference(encoding),
                       batch)


def compare_refused(comparison, _, scratch, __):
    for regex in REFUSED:
        tokenizer = Tokenizer(pair_model([]))
        tokenizer.pre_tokenizer = sequence(split("a"), byte_level())
        path = saved(tokenizer, scratch, "refused.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        escaped = regex.replace("\\", "\\\\")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"Regex": "a"', '"Regex": "%s"' % escaped))
        line = comparison.refusal(["--path", path])
        named = line is not None and "pre_tokenizer.pattern" in line
        print("refused %-36s %s" % (regex, "by name" if named else "NOT: %s" % line), flush=True)
        comparison.failed += not named


PARTS = {"families": compare_families, "regexes": compare_regexes, "classes": compare_classes,
         "patterns": compare_patterns, "refused": compare_refused}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    driver, folder, corpus = sys.argv[1:4]
    comparison = Comparison(driver)
    print("tiktoken %s, tokenizers %s" % (tiktoken.__version__, tokenizers.__version__))
    for name in sys.argv[4:] or PARTS:
        with tempfile.TemporaryDirectory(prefix="tokenizer-oracle.") as scratch:
            PARTS[name](comparison, folder, scratch, corpus)
    print("%d strings compared, %d differ" % (comparison.compared, comparison.failed))
    sys.exit(1 if comparison.failed else 0)


if __name__ == "__main__":
    main()
