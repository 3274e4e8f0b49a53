# SPDX-License-Identifier: Apache-2.0
"""Compares every tokenizer of get-tokenizers, as it comes and as a tokenizer.json, on all of a corpus and on drawn strings.

usage: compare_corpora.py [--strings COUNT] [--seed SEED] DRIVER VOCABULARIES CORPUS CACHE [TOKENIZER ...]

What the reference libraries make of a batch of texts is kept in CACHE as a digest, and so are the tokenizer.json
files made here, so all but the first run take only the time that Laneway takes. The exit code is 1 when any ids differ.
"""
import argparse
import array
import glob
import json
import os
import struct
import subprocess
import sys

import sentencepiece
import tiktoken
import tokenizers

import families
import texts
from references import Batch, Digests, digest

BATCH_BYTES = 16 << 20  # of a file of the corpus
BATCH_STRINGS = 500000
AROUND = 60  # characters shown before and behind the first id that differs
SHOWN = 5    # texts that differ, in full


def document_batches(folder):
    """All documents, by file, in batches."""
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        name, gathered, size, first = os.path.basename(path), [], 0, 0
        with open(path, encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                gathered.append(record.get("text") or record.get("content") or "")
                size += len(line)
                if size >= BATCH_BYTES:
                    yield Batch(name, first, gathered)
                    first, gathered, size = first + len(gathered), [], 0
        if gathered:
            yield Batch(name, first, gathered)


def string_batches(count, seed):
    for first in range(0, count, BATCH_STRINGS):
        strings = texts.drawn(min(BATCH_STRINGS, count - first), seed * 1000 + first // BATCH_STRINGS)
        yield Batch("strings of seed %d" % seed, first, strings)


class Progress:
    """What goes on now, on one line of a terminal."""

    def __init__(self):
        self.is_shown = sys.stderr.isatty()
        self.what = ""

    def show(self, text):
        if self.is_shown:
            sys.stderr.write("\r%-100s" % text[:100])
            sys.stderr.flush()

    def count(self, done, total):
        self.show("%s: reference %d of %d" % (self.what, done, total))

    def clear(self):
        if self.is_shown:
            sys.stderr.write("\r%-100s\r" % "")
            sys.stderr.flush()


class Run:
    def __init__(self, driver, digests):
        self.driver = driver
        self.digests = digests
        self.progress = Progress()
        self.compared = self.failed = 0

    def ours(self, arguments, batch):
        found = subprocess.run([self.driver] + arguments, input=batch.data, capture_output=True)
        if found.returncode != 0:
            sys.exit("compare_corpora: %s: %s" % (arguments, found.stderr.decode().strip()))
        return found.stdout

    def compare(self, subject, batch):
        """The number of texts of which ids differ."""
        self.progress.what = "%s, %s from %d" % (subject.name, batch.of, batch.first)
        self.progress.show(self.progress.what)
        wanted, packed = self.digests.find(subject.reference, batch), None
        if wanted is None:
            packed = subject.reference.packed(batch, self.progress.count)
            wanted = self.digests.add(subject.reference, batch, packed)
        found = self.ours(subject.arguments, batch)
        if digest(found) == wanted:
            return 0
        if packed is None:
            packed = subject.reference.packed(batch, self.progress.count)
        if digest(packed) != wanted:
            sys.exit("compare_corpora: %s: the reference gives other ids than those in %s" % (
                self.progress.what, self.digests.path))
        return self.show(subject, batch, packed, found)

    def show(self, subject, batch, wanted, found):
        differing = 0
        for number, (text, reference, ours) in enumerate(zip(batch.texts(), unpacked(wanted), unpacked(found))):
            if reference != ours:
                differing += 1
                if self.failed + differing <= SHOWN:
                    self.progress.clear()
                    print(difference(self.driver, subject, "%s, text %d" % (batch.of, batch.first + number), text, reference, ours))
        return differing

    def run(self, subject, batches):
        """A line for each file of the corpus."""
        names = list(dict.fromkeys(batch.of for batch in batches))
        for name in names:
            chosen = [batch for batch in batches if batch.of == name]
            failed = sum(self.compare(subject, batch) for batch in chosen)
            count = sum(batch.count for batch in chosen)
            self.failed += failed
            self.compared += count
            self.progress.clear()
            print("%-32s %-24s %9d texts, %6.1f MB  %s" % (
                subject.name, name, count, sum(len(b.data) - 4 * b.count for b in chosen) / 1e6,
                "%d DIFFER" % failed if failed else "equal"), flush=True)


def unpacked(packed):
    at = 0
    while at < len(packed):
        count, = struct.unpack_from("<I", packed, at)
        yield array.array("i", packed[at + 4:at + 4 + 4 * count])
        at += 4 + 4 * count


def difference(driver, subject, where, text, wanted, found):
    """Which id is the first to differ, and the text around it: the ids before it are those of some start of the text."""
    same = next((i for i, (a, b) in enumerate(zip(wanted, found)) if a != b), min(len(wanted), len(found)))
    at = len(subject.decoded(driver, wanted[:same]))
    return "%s, %s: id %d\n  ours %s\n  reference %s\n  around %r" % (
        subject.name, where, same, list(found[same:same + 8]), list(wanted[same:same + 8]),
        text[max(0, at - AROUND):at + AROUND])


def parse():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--strings", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=7)
    for name in ("driver", "vocabularies", "corpus", "cache"):
        parser.add_argument(name)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def main():
    arguments = parse()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    print("tiktoken %s, tokenizers %s, sentencepiece %s" % (
        tiktoken.__version__, tokenizers.__version__, sentencepiece.__version__), flush=True)
    run = Run(arguments.driver, Digests(os.path.join(arguments.cache, "reference-ids")))
    for batches in (list(document_batches(arguments.corpus)), list(string_batches(arguments.strings, arguments.seed))):
        for subject in families.subjects(arguments.vocabularies, arguments.cache, arguments.names):
            run.run(subject, batches)
    print("%d texts compared, %d differ" % (run.compared, run.failed))
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()
