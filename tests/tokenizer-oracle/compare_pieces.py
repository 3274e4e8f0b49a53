# SPDX-License-Identifier: Apache-2.0
"""Compares encode_driver with sentencepiece and tokenizers on SentencePiece vocabularies.

usage: compare_pieces.py DRIVER VOCABULARIES CORPUS

The vocabularies are the two published ones, and small ones trained here on the corpus. The exit code
is 1 when any ids differ.
"""
import io
import os
import random
import sys
import tempfile

import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2 as model_format
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

import texts
from compare import Comparison, hf_reference, saved

ESCAPED = "\u2581"
SPACES = [ESCAPED, ESCAPED * 2, " " + ESCAPED, "<s>", "</s>", "<unk>", "<0x0A>", "\u00a0", "  a", "a  ",
          "\u3000", "\ufb01", "\u212b", "e\u0301", "\uff21", "\u1100\u1161", "\u0958", "<sep>", "a b", "[tool]"]


def reference_of(processor):
    return lambda batch: processor.encode(batch, num_threads=2)


def compare_all(run, name, ours, reference, documents, scale=1):
    run(name + ": code points alone", ours, reference, texts.alone(0x33500) + texts.alone()[0x33500::16])
    run(name + ": code points in 11 contexts", ours, reference, texts.in_context(16))
    run(name + ": random", ours, reference, texts.mixed(200000 // scale, 11, SPACES * 3))
    run(name + ": white space", ours, reference, texts.whitespace())
    run(name + ": long runs", ours, reference, texts.RUNS + [ESCAPED * 3000, "a" + ESCAPED * 100])
    run(name + ": documents", ours, reference, documents)
    run(name + ": cut documents", ours, reference, slices(documents, 20000 // scale))


def slices(documents, count):
    """Short parts of documents, which start and end anywhere."""
    draw = random.Random(12)
    found = []
    while documents and len(found) < count:
        document = draw.choice(documents)
        start = draw.randrange(len(document) + 1)
        found.append(document[start:start + draw.randrange(60)])
    return found


def train(documents, **options):
    """The bytes of a model."""
    out = io.BytesIO()
    sentences = [line[:2000] for document in documents for line in document.split("\n") if line]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences[:60000]), model_writer=out, minloglevel=2,
        num_threads=2, num_sub_iterations=1, hard_vocab_limit=False, **options)
    return out.getvalue()


def load(data):
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(data)
    return processor


def written(data, folder, name):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def changed(data, change):
    model = model_format.ModelProto()
    model.ParseFromString(data)
    change(model)
    return model.SerializeToString()


def set_normalizer(**fields):
    def change(model):
        for name, value in fields.items():
            setattr(model.normalizer_spec, name, value)
    return change


def drop_characters(model):
    """Takes characters out of the vocabulary that longer pieces still have."""
    kept = [p for p in model.pieces if not (len(p.piece) == 1 and p.piece in "eth\u2581\u4e2d")]
    del model.pieces[:]
    model.pieces.extend(kept)


def equal_scores(model):
    for index, piece in enumerate(model.pieces):
        piece.score = float(-(index // 50)) if piece.type == 1 else piece.score


def compare_models(run, documents, folder):
    kinds = {"model_type": ("bpe", "unigram"), "normalization_rule_name": ("identity", "nmt_nfkc")}
    for kind in kinds["model_type"]:
        for rule in kinds["normalization_rule_name"]:
            for fallback in (False, True):
                data = train(documents, model_type=kind, vocab_size=4000, normalization_rule_name=rule,
                             byte_fallback=fallback, character_coverage=0.99,
                             user_defined_symbols=["<sep>", "a b", "[tool]", "\u2581\u2581"] if fallback else [],
                             remove_extra_whitespaces=rule == "nmt_nfkc" or fallback)
                name = "%s, %s%s" % (kind, rule, ", bytes and symbols" if fallback else "")
                ours = ["--path", written(data, folder, "trained.model")]
                compare_all(run, name, ours, reference_of(load(data)), documents, 4)
                compare_changes(run, name, data, folder, documents)


def compare_changes(run, name, data, folder, documents):
    changes = {"no prefix": set_normalizer(add_dummy_prefix=False),
               "spaces kept": set_normalizer(remove_extra_whitespaces=False),
               "spaces not escaped": set_normalizer(escape_whitespaces=False),
               "characters missing": drop_characters, "equal scores": equal_scores}
    for what, change in changes.items():
        other = changed(data, change)
        ours = ["--path", written(other, folder, "changed.model")]
        batch = texts.mixed(20000, 13, SPACES * 4) + slices(documents, 10000) + texts.RUNS[:6]
        run("%s: %s" % (name, what), ours, reference_of(load(other)), batch)


# ---- tokenizer.json ----

def merges_of(model):
    """The merges of a model by score, as the conversions to a tokenizer.json list them."""
    known = {p.piece: i for i, p in enumerate(model.pieces)}
    found = []
    for piece in model.pieces:
        splits = [(piece.piece[:i], piece.piece[i:]) for i in range(1, len(piece.piece))]
        splits = [s for s in splits if s[0] in known and s[1] in known and piece.type == 1]
        found += [(piece.score, known[s[0]], known[s[1]], s) for s in splits]
    return [split for _, _, _, split in sorted(found, key=lambda item: (-item[0], item[1], item[2]))]


def bpe_model(data, **options):
    model = model_format.ModelProto()
    model.ParseFromString(data)
    return models.BPE({p.piece: i for i, p in enumerate(model.pieces)}, merges_of(model), **options)


def unigram_model(data, **options):
    model = model_format.ModelProto()
    model.ParseFromString(data)
    return models.Unigram([(p.piece, p.score) for p in model.pieces], 0, options["byte_fallback"])


def shapes():
    """Names, normalizers and pre-tokenizers of the known families."""
    replace, prepend = normalizers.Replace(" ", ESCAPED), normalizers.Prepend(ESCAPED)
    yield "prepend", normalizers.Sequence([prepend, replace]), None
    yield "gemma", replace, pre_tokenizers.Split(" ", "merged_with_previous")
    for scheme in ("always", "first", "never"):
        for split in (False, True):
            yield ("metaspace %s%s" % (scheme, ", split" if split else ""), None,
                   pre_tokenizers.Metaspace(ESCAPED, scheme, split))


def add_tokens(tokenizer):
    tokenizer.add_special_tokens([AddedToken(t, normalized=False) for t in ("<s>", "</s>", "<unk>")])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("[tool]", normalized=False)])
    return ["<s>", "</s>", "<mask>", " <mask> ", "[tool]", "a [tool]b"]


def compare_shapes(run, name, model_of, documents, folder, fallback, short):
    for shape, normalizer, pre_tokenizer in shapes():
        if not fallback and normalizer is not None and name.startswith("gemma"):
            continue
        tokenizer = Tokenizer(model_of())
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        if pre_tokenizer is not None:
            tokenizer.pre_tokenizer = pre_tokenizer
        what = "tokenizer.json, %s, %s" % (name, shape)
        added = add_tokens(tokenizer)
        path = saved(tokenizer, folder, "pieces.json")
        batch = texts.mixed(30000, 14, SPACES * 2 + added * 4) + [""] + slices(documents, 10000)
        run(what + ", special text", ["--path", path, "--special-text"], hf_reference(tokenizer), batch)
        tokenizer.encode_special_tokens = True
        batch += texts.in_context(64) + texts.whitespace() + documents[::short]
        run(what, ["--path", path], hf_reference(tokenizer), batch)


def compare_json(run, documents, folder, mistral):
    compare_shapes(run, "mistral", lambda: bpe_model(mistral, byte_fallback=True, fuse_unk=True,
                                                     unk_token="<unk>"), documents, folder, True, 10)
    for fallback in (False, True):
        options = {"vocab_size": 4000, "byte_fallback": fallback, "character_coverage": 0.99,
                   "normalization_rule_name": "identity"}
        data = train(documents, model_type="bpe", **options)
        for fuse in (False, True):
            name = "bpe%s%s" % (", bytes" if fallback else "", ", fused" if fuse else "")
            compare_shapes(run, name, lambda d=data, f=fuse: bpe_model(
                d, byte_fallback=fallback, fuse_unk=f, unk_token="<unk>"), documents, folder, fallback, 20)
        data = train(documents, model_type="unigram", **options)
        compare_shapes(run, "unigram%s" % (", bytes" if fallback else ""),
                       lambda d=data: unigram_model(d, byte_fallback=fallback), documents, folder, fallback, 20)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    driver, folder, corpus = sys.argv[1:]
    comparison = Comparison(driver)
    run = comparison.run
    print("sentencepiece %s, tokenizers %s" % (sentencepiece.__version__, tokenizers.__version__))
    documents, _ = texts.documents(corpus, 2e6)
    with tempfile.TemporaryDirectory(prefix="tokenizer-oracle.") as scratch:
        for version in ("v1", "v3"):
            path = os.path.join(folder, "mistral.tokenizer.model." + version)
            with open(path, "rb") as file:
                data = file.read()
            compare_all(run, "mistral %s, sentencepiece" % version, ["--path", path],
                        reference_of(load(data)), documents)
        compare_models(run, documents, scratch)
        compare_json(run, documents, scratch, data)
    print("%d strings compared, %d differ" % (comparison.compared, comparison.failed))
    sys.exit(1 if comparison.failed else 0)


if __name__ == "__main__":
    main()
