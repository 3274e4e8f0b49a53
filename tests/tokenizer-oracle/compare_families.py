# SPDX-License-Identifier: Apache-2.0
"""The further byte-level families, as compare.py does it for gpt2 and cl100k.

usage: compare_families.py DRIVER VOCABULARIES CORPUS [FAMILY ...]
"""
import json
import os
import sys
import tempfile

import tiktoken
import tokenizers
from tokenizers import Tokenizer, normalizers

import texts
from compare import (CL100K, Comparison, all_splits, compare_documents, hf_model, hf_reference, hf_tokenizer, published,
                     read_ranks, saved, tiktoken_reference)

DOCUMENT_BYTES = 5e6  # of each file of the corpus
QWEN3_6 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
          r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def published_encoding(ranks, make):
    published.load_tiktoken_bpe = lambda *_, **__: ranks
    return tiktoken.Encoding(**make())


def o200k_pattern():
    published.load_tiktoken_bpe = lambda *_, **__: {}
    return published.o200k_base()["pat_str"]


def plain_encoding(ranks, pattern, specials=()):
    numbered = {text: len(ranks) + n for n, text in enumerate(specials)}
    return tiktoken.Encoding("plain", pat_str=pattern, mergeable_ranks=ranks, special_tokens=numbered)


def numbered(prefix, start, count):
    return ["<|%s%d|>" % (prefix, n) for n in range(start, start + count)]


def llama3_specials():
    named = ["begin_of_text", "end_of_text", "reserved_special_token_0", "reserved_special_token_1",
             "finetune_right_pad_id", "step_id", "start_header_id", "end_header_id", "eom_id", "eot_id",
             "python_tag", "image"]
    return ["<|%s|>" % name for name in named] + numbered("reserved_special_token_", 2, 244)


def compare_all(run, name, ours, reference, corpus, code_points=0x110000):
    run(name + ": code points alone", ours, reference, texts.alone(code_points))
    run(name + ": code points in 11 contexts", ours, reference, texts.in_context(16))
    run(name + ": short, of every kind", ours, reference, texts.short(4))
    run(name + ": random", ours, reference, texts.mixed(200000, 11, texts.MARKED))
    run(name + ": white space", ours, reference, texts.whitespace())
    run(name + ": long runs", ours, reference, texts.RUNS)
    compare_documents(run, name, ours, reference, corpus, DOCUMENT_BYTES)


def compare_specials(run, name, ours, encoding):
    specials = sorted(encoding.special_tokens_set)
    run(name + ": special text", ours + ["--special-text"], tiktoken_reference(encoding, True),
        specials + texts.mixed(20000, 12, specials[:40] * 3))


def compare_form(run, name, tokenizer, folder, corpus):
    """As a tokenizer.json, against tokenizers."""
    ours = ["--path", saved(tokenizer, folder, name + ".tokenizer.json")]
    name += ", tokenizers"
    reference = hf_reference(tokenizer)
    run(name + ": short, of every kind", ours, reference, texts.short(3))
    run(name + ": code points in 11 contexts", ours, reference, texts.in_context(16))
    run(name + ": random", ours, reference, texts.mixed(100000, 13, texts.MARKED))
    compare_documents(run, name, ours, reference, corpus, DOCUMENT_BYTES / 5)


def o200k(run, folder, scratch, corpus):
    path = os.path.join(folder, "o200k_base.tiktoken")
    ranks = read_ranks(path)
    encoding = published_encoding(ranks, published.o200k_base)
    compare_all(run, "o200k", ["--path", path], tiktoken_reference(encoding), corpus)
    compare_specials(run, "o200k", ["--path", path], encoding)
    harmony = published_encoding(ranks, published.o200k_harmony)
    harmony_path = os.path.join(scratch, "o200k_harmony.tiktoken")
    os.symlink(os.path.abspath(path), harmony_path)
    batch = [text for text in sorted(harmony.special_tokens_set) if text != "<|reserved_200018|>"]
    run("harmony: special text", ["--path", harmony_path, "--special-text"],
        tiktoken_reference(harmony, True), batch + texts.mixed(20000, 12, batch[:40] * 3))
    compare_form(run, "o200k", hf_tokenizer(hf_model(ranks), encoding._pat_str), scratch, corpus)


def llama3(run, folder, scratch, corpus):
    path = os.path.join(folder, "llama3.tokenizer.model")
    ranks = read_ranks(path)
    encoding = plain_encoding(ranks, CL100K % "{1,3}", llama3_specials())
    compare_all(run, "llama3", ["--path", path], tiktoken_reference(encoding), corpus)
    compare_specials(run, "llama3", ["--path", path, "--pattern", "llama3"], encoding)
    model = hf_model(ranks, all_splits(ranks), ignore_merges=True)
    compare_form(run, "llama3", hf_tokenizer(model, CL100K % "{1,3}"), scratch, corpus)


def llama4(run, folder, scratch, corpus):
    path = os.path.join(folder, "llama4.tokenizer.model")
    encoding = plain_encoding(read_ranks(path), o200k_pattern())
    compare_all(run, "llama4", ["--path", path], tiktoken_reference(encoding), corpus)


def qwen(run, folder, scratch, corpus):
    path = os.path.join(folder, "qwen.tiktoken")
    ranks = read_ranks(path)
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] + numbered("extra_", 0, 205)
    encoding = plain_encoding(ranks, CL100K % "", specials)
    compare_all(run, "qwen", ["--path", path], tiktoken_reference(encoding), corpus)
    compare_specials(run, "qwen", ["--path", path], encoding)
    compare_form(run, "qwen", hf_tokenizer(hf_model(ranks), CL100K % ""), scratch, corpus)


def nfc(run, folder, scratch, corpus):
    """Qwen's tokenizer.json asks for normalization; a part of its vocabulary is enough here."""
    ranks = read_ranks(os.path.join(folder, "qwen.tiktoken"))
    model = hf_model({token: rank for token, rank in ranks.items() if rank < 3000})
    tokenizer = hf_tokenizer(model, CL100K % "")
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens(["<|im_end|>"])
    tokenizer.add_tokens(["<tool_call>"])  # found in the normalized text
    ours = ["--path", saved(tokenizer, scratch, "nfc.tokenizer.json"), "--special-text"]
    reference = hf_reference(tokenizer)
    run("nfc: code points alone", ours, reference, texts.alone())
    for before, after in (("a", "\u0301\u0323b"), ("\u0323", "\u0345\u1161\u11a8"), ("\u1100", "\u0301")):
        run("nfc: code points between %a and %a" % (before, after), ours, reference,
            [before + c + after for c in texts.alone(texts.LAST_CLASS)])
    run("nfc: letters and marks", ours, reference, texts.marked(200000, 14, ["<|im_end|>", "<tool_call>"]))
    run("nfc: long runs", ours, reference, ["a" + "\u0301\u0323" * 50000, "\u0301" * 50000, "e\u0301" * 50000])
    compare_documents(run, "nfc", ours, reference, corpus, DOCUMENT_BYTES / 2)


def qwen3_6(run, folder, scratch, corpus):
    path = os.path.join(folder, "qwen3_6.tiktoken")
    ranks = read_ranks(path)
    encoding = plain_encoding(ranks, QWEN3_6)
    compare_all(run, "qwen3_6", ["--path", path], tiktoken_reference(encoding), corpus)
    compare_form(run, "qwen3_6", hf_tokenizer(hf_model(ranks), QWEN3_6), scratch, corpus)


def tekken_content(folder):
    """Ranks, the pattern, and by how much ids are ahead of ranks."""
    with open(os.path.join(folder, "mistral.tekken_240911.json"), encoding="utf-8") as file:
        content = json.load(file)
    ahead = content["config"]["default_num_special_tokens"]
    count = content["config"]["default_vocab_size"] - ahead
    ranks = {texts.decoded(entry["token_bytes"]): entry["rank"] for entry in content["vocab"][:count]}
    return ranks, content["config"]["pattern"], ahead


def tekken(run, folder, scratch, corpus):
    path = os.path.join(folder, "mistral.tekken_240911.json")
    ranks, pattern, ahead = tekken_content(folder)
    encoding = plain_encoding(ranks, pattern)
    compare_all(run, "tekken", ["--path", path],
                lambda batch: [[n + ahead for n in encoding.encode_ordinary(text)] for text in batch], corpus)
    compare_form(run, "tekken", hf_tokenizer(hf_model(ranks), TEKKEN), scratch, corpus)


def deepseek(run, folder, scratch, corpus):
    path = os.path.join(folder, "deepseek.tokenizer.json")
    tokenizer = Tokenizer.from_file(path)
    tokenizer.encode_special_tokens = True
    compare_all(run, "deepseek", ["--path", path], hf_reference(tokenizer), corpus, texts.LAST_CLASS)
    tokenizer.encode_special_tokens = False
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    run("deepseek: special text", ["--path", path, "--special-text"], hf_reference(tokenizer),
        added + texts.mixed(20000, 12, added[:20] * 3 + added[-20:] * 3))


FAMILIES = {"o200k": o200k, "llama3": llama3, "qwen": qwen, "nfc": nfc, "deepseek": deepseek, "tekken": tekken,
            "llama4": llama4, "qwen3_6": qwen3_6}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    driver, folder, corpus = sys.argv[1:4]
    comparison = Comparison(driver)
    print("tiktoken %s, tokenizers %s" % (tiktoken.__version__, tokenizers.__version__))
    for name in sys.argv[4:] or FAMILIES:
        with tempfile.TemporaryDirectory(prefix="tokenizer-oracle.") as scratch:
            FAMILIES[name](comparison.run, folder, scratch, corpus)
    print("%d strings compared, %d differ" % (comparison.compared, comparison.failed))
    sys.exit(1 if comparison.failed else 0)


if __name__ == "__main__":
    main()
