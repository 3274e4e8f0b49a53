# SPDX-License-Identifier: Apache-2.0
"""Every tokenizer of get-tokenizers, with the library that its ids must equal; then each as a tokenizer.json."""
import array
import glob
import os
import struct
import subprocess

import sentencepiece
import tiktoken
import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from compare import CL100K, all_splits, hf_model, hf_reference, hf_tokenizer, published, read_ranks, saved
from compare_families import QWEN3_6, TEKKEN, o200k_pattern, plain_encoding, tekken_content
from compare_pieces import ESCAPED, bpe_model, load
from references import Reference, digest, file_digest

HERE = os.path.dirname(os.path.abspath(__file__))
RANKS = {"cl100k": ("cl100k_base.tiktoken", CL100K % "{1,3}"), "o200k": ("o200k_base.tiktoken", None),
         "harmony": ("o200k_base.tiktoken", None), "llama3": ("llama3.tokenizer.model", CL100K % "{1,3}"),
         "llama4": ("llama4.tokenizer.model", None), "qwen": ("qwen.tiktoken", CL100K % ""),
         "qwen3_6": ("qwen3_6.tiktoken", QWEN3_6)}


class Subject:
    """A tokenizer as Laneway opens it, and what it is compared with."""

    def __init__(self, name, arguments, reference):
        self.name = name
        self.arguments = arguments
        self.reference = reference

    def decoded(self, driver, ids):
        """The text of some ids; empty where a file says nothing of decoding."""
        data = struct.pack("<I", len(ids)) + array.array("i", ids).tobytes()
        found = subprocess.run([driver, *self.arguments, "--decode"], input=data, capture_output=True)
        return found.stdout[4:].decode("utf-8", "replace")


# ---- as they come ----

def ordinary(ranks, pattern, ahead=0):
    encoding = plain_encoding(ranks, pattern)
    if ahead == 0:
        return lambda texts: map(encoding.encode_ordinary, texts)
    return lambda texts: ([n + ahead for n in encoding.encode_ordinary(text)] for text in texts)


def gpt2(folder, _):
    files = [os.path.join(folder, name) for name in ("gpt2.vocab.bpe", "gpt2.encoder.json")]
    pattern = published.r50k_pat_str
    reference = Reference(
        lambda: ordinary(tiktoken.load.data_gym_to_mergeable_bpe_ranks(*files), pattern),
        "tiktoken", tiktoken.__version__, pattern, *map(file_digest, files))
    return Subject("gpt2, tiktoken", ["--path", files[0]], reference)


def of_ranks(name):
    def subject(folder, scratch):
        file, pattern = RANKS[name]
        path, pattern = os.path.join(folder, file), pattern or o200k_pattern()
        reference = Reference(lambda: ordinary(read_ranks(path), pattern),
                              "tiktoken", tiktoken.__version__, pattern, file_digest(path))
        if name == "harmony":  # goes by its name alone
            named = os.path.join(scratch, "o200k_harmony.tiktoken")
            if not os.path.exists(named):
                os.symlink(os.path.abspath(path), named)
            path = named
        return Subject(name + ", tiktoken", ["--path", path], reference)
    return subject


def tekken(folder, _):
    path = os.path.join(folder, "mistral.tekken_240911.json")
    reference = Reference(lambda: ordinary(*tekken_content(folder)),
                          "tiktoken", tiktoken.__version__, "tekken", file_digest(path))
    return Subject("tekken, tiktoken", ["--path", path], reference)


def deepseek(folder, _):
    return of_json("deepseek", os.path.join(folder, "deepseek.tokenizer.json"))


def mistral(version):
    def subject(folder, _):
        path = os.path.join(folder, "mistral.tokenizer.model." + version)

        def opened():
            with open(path, "rb") as file:
                processor = load(file.read())
            return lambda texts: processor.encode(texts, num_threads=1)

        reference = Reference(opened, "sentencepiece", sentencepiece.__version__, file_digest(path))
        return Subject("mistral %s, sentencepiece" % version, ["--path", path], reference)
    return subject


# ---- as a tokenizer.json ----

def of_json(name, path):
    def opened():
        tokenizer = Tokenizer.from_file(path)
        tokenizer.encode_special_tokens = True
        return hf_reference(tokenizer)

    reference = Reference(opened, "tokenizers", tokenizers.__version__, file_digest(path))
    return Subject(name + ", tokenizers", ["--path", path], reference)


def ranks_form(name, merges_of=lambda ranks: None, normalizer=None, **options):
    def make(folder):
        file, pattern = RANKS[name]
        ranks = read_ranks(os.path.join(folder, file))
        tokenizer = hf_tokenizer(hf_model(ranks, merges_of(ranks), **options), pattern or o200k_pattern())
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        return tokenizer
    return make


def gpt2_form(folder):
    files = [os.path.join(folder, name) for name in ("gpt2.encoder.json", "gpt2.vocab.bpe")]
    return hf_tokenizer(models.BPE.from_file(*files))


def tekken_form(folder):
    return hf_tokenizer(hf_model(tekken_content(folder)[0]), TEKKEN)


def mistral_form(version, normalizer, pre_tokenizer, decoder):
    def make(folder):
        with open(os.path.join(folder, "mistral.tokenizer.model." + version), "rb") as file:
            model = bpe_model(file.read(), byte_fallback=True, fuse_unk=True, unk_token="<unk>")
        tokenizer = Tokenizer(model)
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        if pre_tokenizer is not None:
            tokenizer.pre_tokenizer = pre_tokenizer
        tokenizer.decoder = decoder
        tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in ("<unk>", "<s>", "</s>")])
        return tokenizer
    return make


def undone(*last):
    return decoders.Sequence([decoders.Replace(ESCAPED, " "), decoders.ByteFallback(), decoders.Fuse(), *last])


FORMS = {
    "gpt2": gpt2_form, "cl100k": ranks_form("cl100k"), "o200k": ranks_form("o200k"),
    "llama3": ranks_form("llama3", all_splits, ignore_merges=True),
    "qwen": ranks_form("qwen", normalizer=normalizers.NFC()),
    "qwen3_6": ranks_form("qwen3_6", normalizer=normalizers.NFC()),
    "llama4": ranks_form("llama4", all_splits, ignore_merges=True), "tekken": tekken_form,
    "mistral v1": mistral_form("v1", normalizers.Sequence([normalizers.Prepend(ESCAPED), normalizers.Replace(" ", ESCAPED)]),
                               None, undone(decoders.Strip(" ", 1, 0))),
    "mistral v3": mistral_form("v3", None, pre_tokenizers.Metaspace(ESCAPED, "first", False),
                               decoders.Metaspace(ESCAPED, "first")),
}


def sources(folder):
    """What the made files depend on: the library, the programs here, the vocabularies."""
    paths = sorted(glob.glob(os.path.join(HERE, "*.py")) + glob.glob(os.path.join(folder, "*.*")))
    return digest("tokenizers", tokenizers.__version__, *(os.path.basename(p) + file_digest(p) for p in paths))


def made_of(stamp):
    if not os.path.exists(stamp):
        return None
    with open(stamp, encoding="ascii") as file:
        return file.read()


def form(name):
    def subject(folder, scratch):
        path = os.path.join(scratch, name.replace(" ", "-") + ".tokenizer.json")
        stamp = path + ".of"
        if made_of(stamp) != sources(folder):
            saved(FORMS[name](folder), scratch, os.path.basename(path))
            with open(stamp, "w", encoding="ascii") as file:
                file.write(sources(folder))
        return of_json(name, path)
    return subject


SUBJECTS = {"gpt2": gpt2, **{name: of_ranks(name) for name in RANKS}, "tekken": tekken, "deepseek": deepseek,
            "mistral v1": mistral("v1"), "mistral v3": mistral("v3"),
            **{name + ".json": form(name) for name in FORMS}}


def subjects(folder, scratch, names):
    """Those of some names, or all, opened as they are asked for."""
    for name in names or SUBJECTS:
        yield SUBJECTS[name](folder, scratch)
