# SPDX-License-Identifier: Apache-2.0
"""Random recipes with random data files: everything a stream depends on varies."""

import gzip
import json
import os
import shutil
import subprocess

import texts
import vocabulary

SAMPLE_TOKENIZER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../examples/data/tokenizer.json")


def zstd_frame(data):
    """One zstd frame."""
    return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout


def cut(random, data, count):
    """The data in `count` pieces of random size, some of which may be empty."""
    places = sorted(random.randint(0, len(data)) for _ in range(count - 1))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)])]


def skippable_frame(random):
    """A zstd frame that holds no data."""
    body = bytes(random.randrange(20))
    magic = 0x184D2A50 + random.randrange(16)
    return magic.to_bytes(4, "little") + len(body).to_bytes(4, "little") + body


def packed(random, kind, data):
    """(suffix, stored bytes) of a shard of one kind."""
    if kind == "gz":
        return ".gz", b"".join(map(gzip.compress, cut(random, data, random.randint(1, 3))))
    if kind in ("zst", "frames"):
        count = random.randint(2, 4) if kind == "frames" else 1
        frames = [zstd_frame(piece) for piece in cut(random, data, count)]
        if random.random() < 0.3:
            frames.insert(random.randint(0, len(frames)), skippable_frame(random))
        return ".zst", b"".join(frames)
    return "", data


class Generator:
    """Writes one recipe and its data into a folder."""

    def __init__(self, random, folder):
        self.random = random
        self.folder = folder
        self.end = random.choice(("repeat", "repeat", "repeat", "drop", "pad"))
        self.lanes = random.randint(1, 8)
        self.policy = random.choice(("fail", "fail", "fail", "skip", "skip", "replace", "replace"))
        rates = (0, 0, 0.004) if self.policy == "fail" else (0.03, 0.1)
        self.bad_rate = random.choice(rates)

    def write(self):
        """Write everything; the recipe is recipe.json."""
        with open(os.path.join(self.folder, "recipe.json"), "w", encoding="utf-8") as file:
            json.dump(self.recipe(), file, indent=1)

    def recipe(self):
        """The recipe, whose sources' files are written on the way."""
        random = self.random
        tokenizer = self.tokenizer()
        overflow = random.choice(("split", "split", "truncate", "drop"))
        low = 24 if overflow == "drop" else 1
        return {"seed": random.choice((0, random.getrandbits(64))), "lanes": self.lanes,
                "global_batch": self.lanes * random.randint(1, 3 if self.end == "repeat" else 2),
                "context": random.randint(low, 64), "order": random.choice(("permuted",) * 4 + ("file",)),
                "sources": [self.source(number) for number in range(random.randint(1, 4))],
                "mixture": {"unit": random.choice(("tokens", "tokens", "documents", "supervised"))},
                "tokenizer": tokenizer, "pack": self.pack(overflow),
                "shuffle": {"rows": random.choice((0, random.randint(0, 16)))},
                "labels": {"shift": random.choice(("stream", "document")),
                           "mask_eos": bool(tokenizer.get("eos")) and random.random() < 0.5},
                "end": self.end,
                "on_bad_record": self.on_bad_record()}

    def on_bad_record(self):
        """What is done about bad records."""
        limit = self.random.choice((0, 0, self.random.randint(1, 60)))
        return {"policy": self.policy, "limit": limit}

    def pack(self, overflow):
        """The options of the packer."""
        random = self.random
        return {"algorithm": random.choice(("wrap", "best_fit")), "overflow": overflow,
                "open_rows": random.randint(1, 8), "pad": random.choice((None, None, random.randrange(256)))}

    def tokenizer(self):
        """The bytes, a random vocabulary, or that of the sample corpus."""
        random = self.random
        kind = random.choice(("bytes", "bytes", "random", "random", "sample"))
        bos, eos = random.random() < 0.4, random.random() < 0.7
        if kind == "bytes":
            return {"name": "bytes", "bos": bos, "eos": eos}
        path = os.path.join(self.folder, "tokenizer.json")
        if kind == "sample" and os.path.exists(SAMPLE_TOKENIZER):
            shutil.copyfile(SAMPLE_TOKENIZER, path)
            return {"path": "tokenizer.json", "eos": eos and random.choice((True, vocabulary.EOS))}
        vocabulary.write(random, path)
        return {"path": "tokenizer.json", "bos": bos and vocabulary.BOS, "eos": eos and vocabulary.EOS,
                "special_text": random.random() < 0.3}

    def source(self, number):
        """One source, its shards written as files, in a folder or as a list."""
        random = self.random
        field = random.choice(("text", "text", "content", "meta.text", "a.b.c", "."))
        written = "text" if field == "." else field
        names = [self.shard(number, i, kind, written) for i, kind in enumerate(self.kinds())]
        folder = f"source{number}"
        path = random.choice((folder, folder + "/", f"{folder}/*.jsonl*", [f"{folder}/{n}" for n in names]))
        found = {"name": f"s{number}", "path": path, "text": field,
                 "block": random.choice((0, random.randint(16, 200), random.randint(100, 1500)))}
        weight = random.choice((None, random.randint(1, 5), random.randint(1, 99) / 100))
        return found if weight is None else {**found, "weight": weight}

    def kinds(self):
        """The kind of each shard: enough of them where one cannot be cut, with a few exceptions."""
        random = self.random
        if random.random() < 0.6:
            kinds = random.choice((("plain",), ("plain",), ("plain", "frames")))
            return [random.choice(kinds) for _ in range(random.randint(1, 4))]
        kinds = random.choice((("gz",), ("zst",), ("gz", "zst", "plain", "frames")))
        short = random.random() < 0.05
        count = max(1, self.lanes - 1) if short else self.lanes + random.randint(0, 2)
        return [random.choice(kinds) for _ in range(count)]

    def shard(self, number, index, kind, field):
        """Write one shard; its name."""
        random = self.random
        most = 25 if kind == "plain" and self.end != "pad" else 10
        data = texts.shard(random, field, random.randint(3, most), self.bad_rate)
        suffix, stored = packed(random, kind, data)
        name = f"{random.choice('abAB')}{index}.jsonl{suffix}"
        os.makedirs(os.path.join(self.folder, f"source{number}"), exist_ok=True)
        with open(os.path.join(self.folder, f"source{number}", name), "wb") as file:
            file.write(stored)
        return name
