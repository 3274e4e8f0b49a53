# SPDX-License-Identifier: Apache-2.0
"""Tests of the reference: the worked numbers of docs/stream.md, and properties.

The properties are those the page promises; they hold the reference to more
than its own output.
"""

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
import documents
import mixer
import packers
import recipe as recipes
import records
import rows
import shards
import stream
import tokens
import zstd_frames
from randomness import G, MASK, key, mix, permute

TINY = {"seed": 7, "lanes": 2, "global_batch": 4, "context": 6,
        "sources": [{"name": "tiny", "path": "docs.jsonl", "block": 48}],
        "tokenizer": {"name": "bytes", "bos": True, "eos": True}, "shuffle": {"rows": 2},
        "end": "pad"}


class Lengths:
    """A source of the mixer that has nothing but lengths."""

    def __init__(self, lengths):
        self.waiting = [SizedDocument(length) for length in lengths]

    def show(self):
        """As LaneSource.show."""
        return self.waiting[0] if self.waiting else None

    def take(self):
        """As LaneSource.take."""
        return self.waiting.pop(0)


class SizedDocument:
    """A document that has nothing but a length."""

    def __init__(self, length):
        self.length = length
        self.tokens = range(length)


class PackOptions:
    """What a packer asks a recipe."""

    def __init__(self, context, open_rows=64, shift="stream"):
        self.context = context
        self.open_rows = open_rows
        self.shift = shift


def spans(row, names):
    """The segments of a row in the notation of the page."""
    return " ".join(f"{names[s.document]}[{s.first}..{s.first + s.count})" for s in row.segments)


class Folder(unittest.TestCase):
    """A test with a folder of its own for data files."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def write(self, name, data):
        """Write a file of the folder."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def stream(self, **changes):
        """The stream of the tiny recipe with changes, over this folder."""
        return stream.Stream(recipes.Recipe({**TINY, **changes}, self.folder))

    def write_docs(self, texts):
        """Write docs.jsonl with a record for each text."""
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        self.write("docs.jsonl", lines.encode())


class RandomnessTest(unittest.TestCase):
    """Section 1."""

    def test_mix_worked(self):
        self.assertEqual([mix(0), mix(1), mix(G), mix(MASK)],
                         [0, 0x5692161D100B05E5, 0xE220A8397B1DCDAF, 0xB4D055FCF2CBBD7B])

    def test_key_worked(self):
        self.assertEqual(key(0, 1, 0, 0, 0), 0xE28195DDD9EE4956)
        self.assertEqual(key(42, 1, 0, 0, 0), 0x7C15E27C53336E6F)
        self.assertEqual(key(42, 2, 1, 7, 3), 0xC7CEEB5A55E59A67)
        self.assertEqual(key(MASK, 3, 5, 9, 0), 0x62F91523A981E8F9)

    def test_permute_worked(self):
        k = key(42, 1, 0, 0, 0)
        whole = {1: [0], 2: [1, 0], 5: [3, 2, 0, 1, 4],
                 16: [3, 8, 0, 1, 7, 6, 11, 9, 15, 10, 12, 5, 4, 13, 2, 14],
                 17: [7, 9, 11, 0, 1, 2, 16, 4, 8, 5, 6, 14, 13, 10, 12, 3, 15]}
        for n, order in whole.items():
            self.assertEqual([permute(k, n, i) for i in range(n)], order)
        self.assertEqual([permute(k, 10**6, i) for i in (0, 1, 999999)], [909043, 131842, 97984])
        self.assertEqual([permute(k, 1 << 40, i) for i in (0, 1, 2)],
                         [136771018788, 1074458490617, 171315071280])

    def test_permute_is_a_permutation(self):
        for n in [*range(1, 70), 255, 256, 257, 1000]:
            for k in (0, 1, key(5, 2, 3, 4, 5)):
                self.assertEqual(sorted(permute(k, n, i) for i in range(n)), list(range(n)))


class ShardsTest(Folder):
    """Sections 2 and 3."""

    def lines_by_block(self, path, block_bytes):
        """The record numbers of each block of a shard."""
        shard = shards.Shard(path, block_bytes)
        return [[line.number for part in block.parts(block_bytes) for line in part]
                for block in shard.blocks]

    def test_every_record_is_in_one_block(self):
        source = random.Random(1)
        text = b"".join(b"x" * source.randrange(30) + b"\n" for _ in range(60)) + b"last"
        expected = list(range(len(shards.records_of(text))))
        frames = [text[at:at + 97] for at in range(0, len(text), 97)]
        packed = b"".join(zstd(frame) for frame in frames)
        for name, data in (("a.jsonl", text), ("b.jsonl.gz", gzip.compress(text)),
                           ("c.jsonl.zst", packed)):
            path = self.write(name, data)
            for block_bytes in (1, 7, 64, 100, 5000):
                blocks = self.lines_by_block(path, block_bytes)
                self.assertEqual(sorted(sum(blocks, [])), expected)

    def test_line_belongs_to_the_block_of_the_newline_before_it(self):
        path = self.write("a.jsonl", b"aaa\nbbb\nccc\n")
        self.assertEqual(self.lines_by_block(path, 4), [[0, 1], [2], []])

    def test_skippable_frames_count_nowhere(self):
        skippable = (0x184D2A53).to_bytes(4, "little") + (3).to_bytes(4, "little") + b"abc"
        one, two = zstd(b"a\nb"), zstd(b"\nc\n")
        data = skippable + one + skippable + two + skippable
        self.assertEqual(zstd_frames.data_frames(data), [one, two])
        self.assertEqual(shards.Shard(self.write("s.zst", data), 1).records[1].content, b"b")

    def test_frames_are_grouped_by_stored_bytes(self):
        frames = [b"x" * size for size in (4, 3, 9, 2, 2)]
        groups = [list(map(len, group)) for group in shards.frame_groups(frames, 7)]
        self.assertEqual(groups, [[4, 3], [9], [2, 2]])

    def test_gzip_members_are_one_block_with_parts(self):
        path = self.write("m.gz", gzip.compress(b"aaa\nb") + gzip.compress(b"bb\nccc\n"))
        block, = shards.Shard(path, 4).blocks
        self.assertEqual([[line.content for line in part] for part in block.parts(4)],
                         [[b"aaa", b"bbb"], [b"ccc"], []])

    def test_mark_and_blank_lines(self):
        found = shards.records_of(b"\xef\xbb\xbfa\r\n \t\r\n\nb\n\xef\xbb\xbfc")
        self.assertEqual([line.content for line in found], [b"a\r", b"b", b"\xef\xbb\xbfc"])

    def test_folder_search(self):
        os.makedirs(os.path.join(self.folder, "d", "_x"))
        for name in ("d/b.jsonl", "d/a.ndjson.zst", "d/.h.jsonl", "d/_x/c.jsonl", "d/t.txt"):
            self.write(name, b"")
        found = shards.shard_paths(["d"], self.folder)
        self.assertEqual([os.path.basename(path) for path in found], ["a.ndjson.zst", "b.jsonl"])

    def test_automatic_block_size(self):
        self.assertEqual(shards.block_bytes_of(0, 1000, 1), 2048)
        self.assertEqual(shards.block_bytes_of(0, 640_000, 4), 5000)
        self.assertEqual(shards.block_bytes_of(0, 1 << 40, 4), 262144)
        self.assertEqual(shards.block_bytes_of(17, 1 << 40, 4), 17)


class RecordsTest(unittest.TestCase):
    """The bad records of section 3."""

    def check_bad(self, content, replace=False):
        """The record has no text."""
        with self.assertRaises(records.BadRecord):
            records.text_of(content, ["text"], replace)

    def test_texts(self):
        text = records.text_of(b' {"a":[1,{}],"text":"\\u0041\\ud83d\\ude00\\u0000\\n"}\r', ["text"], False)
        self.assertEqual(text, "A\U0001f600\0\n")
        self.assertEqual(records.text_of(b'{"text":"a","text":"b"}', ["text"], False), "b")
        self.assertEqual(records.text_of(b'{"m":{"n":{"text":"x"}}}', ["m", "n", "text"], False), "x")

    def test_bad_under_every_policy(self):
        for content in (b"{}", b'{"text":null}', b'{"text":1}', b"[]", b'"text"', b'{"text":"a"',
                        b'{"text":"a"} {}', b'{"text":"a\tb"}', b'{"text":"a","n":NaN}',
                        b'{"text":"a",}', b'{"text":"\\x"}', b'{"text":"a","n":01}'):
            for replace in (False, True):
                self.check_bad(content, replace)

    def test_bad_unless_replaced(self):
        for content, text in ((b'{"text":"a\xfbb"}', "a\ufffdb"),
                              (b'{"text":"\xf0\x9f\x98"}', "\ufffd"),
                              (b'{"text":"\xed\xa0\x80"}', "\ufffd\ufffd\ufffd"),
                              (b'{"text":"\\ud83d\\ud83d\\ude00"}', "\ufffd\U0001f600")):
            self.check_bad(content)
            self.assertEqual(records.text_of(content, ["text"], True), text)

    def test_levels(self):
        for inside in (b"[%s]", b'{"a":%s}'):
            value = b"0"
            for _ in range(255):
                value = inside % value
            content = b'{"a":"]}[{\\"]","text":"x","v":%s}'
            self.assertEqual(records.text_of(content % value, ["text"], False), "x")
            for replace in (False, True):
                self.check_bad(content % (inside % value), replace)

    def test_limit(self):
        policy = records.BadRecordPolicy("skip", 2)
        self.assertEqual([policy.may_pass_over() for _ in range(3)], [True, True, False])
        self.assertTrue(records.BadRecordPolicy("skip", 0).may_pass_over())
        self.assertFalse(records.BadRecordPolicy("fail", 9).may_pass_over())


class TokensTest(Folder):
    """The pre-tokenizer and the merges."""

    def test_pieces(self):
        cases = {"I'll don't": ["I", "'ll", " don", "'t"],
                 "a  b   ": ["a", " ", " b", "   "],
                 "x12 34!? ..": ["x", "12", " 34", "!?", " .."],
                 "a\n\nb\n c": ["a", "\n", "\n", "b", "\n", " c"],
                 "'S \u00e9\u4e2d\u00a0\u00a0z": ["'", "S", " \u00e9\u4e2d", "\u00a0", "\u00a0", "z"]}
        for text, pieces in cases.items():
            self.assertEqual(list(tokens.pieces_of(text)), pieces)

    def bpe(self, special_text):
        """A vocabulary of all bytes and three merges."""
        names = tokens.byte_characters()
        merges = ["a b", "b c", "ab c"]
        vocabulary = {name: byte for byte, name in names.items()}
        for merge in merges:
            vocabulary[merge.replace(" ", "")] = len(vocabulary)
        data = {"added_tokens": [{"id": 300, "content": "<end>", "special": True}],
                "model": {"type": "BPE", "vocab": vocabulary, "merges": merges}}
        path = self.write("tokenizer.json", json.dumps(data).encode())
        return tokens.BpeTokenizer(path, special_text)

    def test_lowest_rank_first_then_leftmost(self):
        self.assertEqual(self.bpe(False).encode("abcbcab"), [258, 257, 256])

    def test_special_text(self):
        self.assertEqual(self.bpe(True).encode("ab<end>b"), [256, 300, 98])
        self.assertEqual(self.bpe(False).encode("<end>"), list(b"<end>"))
        self.assertEqual(self.bpe(False).id_of("<end>", False), 300)


class MixerTest(unittest.TestCase):
    """Section 5."""

    def draw_all(self, mix_of, sources):
        """(source, length, counts) of every draw."""
        drawn = []
        while True:
            before = [len(source.waiting) for source in sources]
            document = mix_of.draw()
            if document is None:
                return drawn
            s, = (i for i, source in enumerate(sources) if len(source.waiting) < before[i])
            drawn.append((s, document.length, list(mix_of.drawn)))

    def test_worked(self):
        sources = [Lengths([4] * 4), Lengths(range(1, 7)), Lengths([10, 1])]
        mix_of = mixer.Mixer(sources, [5 * 10**8, 3 * 10**8, 2 * 10**8], "tokens")
        drawn = self.draw_all(mix_of, sources)
        self.assertEqual("".join("ABC"[s] for s, _, _ in drawn), "BABCABAACBBB")
        self.assertEqual([length for _, length, _ in drawn], [1, 4, 2, 10, 4, 3, 4, 4, 1, 4, 5, 6])
        self.assertEqual([counts for _, _, counts in drawn],
                         [[0, 1, 0], [4, 1, 0], [4, 3, 0], [4, 3, 10], [8, 3, 10], [8, 6, 10],
                          [12, 6, 10], [16, 6, 10], [0, 0, 1], [0, 4, 1], [0, 5, 0], [0, 11, 0]])

    def check_error(self, source, unit):
        """The error stays below the longest document at every draw."""
        weights = [source.randrange(1, 10**9) for _ in range(source.randint(1, 7))]
        longest = source.choice((3, 50, 1000))
        sources = [Lengths(source.randint(1, longest) for _ in range(300)) for _ in weights]
        bound = longest if unit == "tokens" else 1
        for counts in self.draw_until_end(mixer.Mixer(sources, weights, unit)):
            for weight, c in zip(weights, counts):
                self.assertLess(abs(c * sum(weights) - weight * sum(counts)), bound * sum(weights))

    def draw_until_end(self, mix_of):
        """The counts behind every draw until the first source has ended."""
        while mix_of.draw() is not None and len(mix_of.active) == len(mix_of.sources):
            yield list(mix_of.drawn)

    def test_error_is_below_the_longest_document(self):
        source = random.Random(2)
        for _ in range(20):
            self.check_error(source, "tokens")
            self.check_error(source, "documents")


class PackersTest(unittest.TestCase):
    """Section 6."""

    def leaving(self, packer, lengths):
        """(document that caused it, segments) of every row."""
        names, found = {}, []
        for name, length in zip("abcdefghijklmnop", lengths):
            document = SizedDocument(length)
            names[document] = name
            found += [(name, spans(row, names)) for row in packer.feed(document)]
        return found + [("end", spans(row, names)) for row in packer.finish()]

    def test_best_fit_worked(self):
        packer = packers.BestFit(PackOptions(10, 2))
        self.assertEqual(self.leaving(packer, [6, 7, 3, 14, 4, 2, 5, 9]),
                         [("c", "b[0..7) c[0..3)"), ("d", "d[0..10)"), ("d", "a[0..6) d[10..14)"),
                          ("h", "e[0..4) f[0..2)"), ("end", "g[0..5)"), ("end", "h[0..9)")])

    def test_wrap_waits_for_the_last_label_of_a_stream(self):
        streamed = self.leaving(packers.Wrap(PackOptions(4)), [4, 5])
        cut = self.leaving(packers.Wrap(PackOptions(4, shift="document")), [4, 5])
        self.assertEqual(streamed, [("b", "a[0..4)"), ("b", "b[0..4)"), ("end", "b[4..5)")])
        self.assertEqual(cut, [("a", "a[0..4)"), ("b", "b[0..4)"), ("end", "b[4..5)")])

    def check_all_packed(self, packer, source):
        """Every input token is in one segment, in order, and no row is too full."""
        fed = [SizedDocument(source.randint(1, 40)) for _ in range(200)]
        left = [row for document in fed for row in packer.feed(document)] + packer.finish()
        segments = [segment for row in left for segment in row.segments]
        for document in fed:
            own = sorted((s.first, s.count) for s in segments if s.document is document)
            self.assertEqual(sum(count for _, count in own), document.length)
            self.assertEqual([first for first, _ in own],
                             [sum(c for _, c in own[:i]) for i in range(len(own))])
        self.assertTrue(all(sum(s.count for s in row.segments) <= 16 for row in left))
        return left

    def test_no_token_is_lost(self):
        source = random.Random(3)
        for shift in ("stream", "document"):
            left = self.check_all_packed(packers.Wrap(PackOptions(16, shift=shift)), source)
            self.assertTrue(all(row.free == 0 for row in left[:-1]))
        for open_rows in (1, 2, 64):
            self.check_all_packed(packers.BestFit(PackOptions(16, open_rows)), source)


class StreamTest(Folder):
    """The whole recipe of section 10, and what holds for every recipe."""

    def test_worked(self):
        self.write_docs(map(str, range(10)))
        tiny = self.stream()
        steps = list(tiny.steps())
        self.assertEqual([[d.record for d in tiny.documents(lane)] for lane in (0, 1)],
                         [[5, 4, 6, 9, 7, 8], [2, 3, 1, 0]])
        self.assertEqual([[s.document.record for s in row.segments] for row in sum(steps, [])],
                         [[6, 9], [5, 4], [2, 3], [1, 0], [7, 8], [], [], []])
        self.assertEqual(steps[0][3].labels, [49, 257, 256, 48, 257, -100])
        self.assertEqual(steps[0][0].starts, [0, 3])
        self.assertEqual([steps[s][r].digest().hex() for s, r in ((0, 0), (0, 3), (1, 1))],
                         ["9be30d2c6baeb05b862be5d2eaaf33ee97cac7be7ff891778a1d6906ae45b778",
                          "7db96396547921e4fcb03c5755e3feb308ebd57d6c0996b407ca6a883053a5d8",
                          "245e2676ca93772211f4657e50d7a259d3de0270d6289e2f8193f08d9135d8a2"])
        self.assertEqual([rows.step_digest(step) for step in steps],
                         ["1b1b456dfd2f1bae4a4eb606359f24b654dbfec9ad658ca93b79b1075ae34cd4",
                          "a035e2f20ae63ac4393dd2e8e88af32f4c7a1b70e7cad4d5e9d6b4af4b1990b4"])

    def test_pad_delivers_every_token_once(self):
        texts = [str(i) * (i % 23) for i in range(120)]
        self.write_docs(texts)
        expected = sum(len(text) + 2 for text in texts)
        for pack in ({"algorithm": "wrap"}, {"algorithm": "best_fit", "open_rows": 3}):
            delivered = [row for step in self.stream(pack=pack).steps() for row in step]
            spans_of = [s for row in delivered for s in row.segments]
            self.assertEqual(sum(s.count for s in spans_of), expected)
            self.assertEqual(len({(s.document.record, s.first) for s in spans_of}), len(spans_of))

    def test_drop_is_a_prefix_of_pad(self):
        self.write_docs(str(i) * (i % 9) for i in range(90))
        padded = list(map(rows.step_digest, self.stream(end="pad").steps()))
        dropped = list(map(rows.step_digest, self.stream(end="drop").steps()))
        self.assertEqual(dropped, padded[:len(dropped)])
        self.assertLess(0, len(dropped))

    def test_document_labels(self):
        self.write_docs(["abcdefgh"])
        step = next(self.stream(labels={"shift": "document", "mask_eos": True}, lanes=1,
                                global_batch=2, shuffle={}).steps())
        self.assertEqual([row.tokens for row in step], [[256, *b"abcde"], [*b"fgh", 257, 257, 257]])
        self.assertEqual([row.labels for row in step],
                         [[*b"abcdef"], [*b"gh", 257, -100, -100, -100]])

    def test_mask_eos(self):
        self.write_docs(["a", "b"])
        step = next(self.stream(labels={"mask_eos": True}, lanes=1, global_batch=1,
                                order="file").steps())
        self.assertEqual(step[0].labels, [97, 257, -100, 98, 257, -100])

    def test_overflow(self):
        self.write_docs(["abcdefgh", "x"])
        for overflow, expected in (("truncate", [[256, *b"abcde"], [256, 120, 257]]),
                                   ("drop", [[256, 120, 257]])):
            lane = self.stream(pack={"overflow": overflow}, order="file", lanes=1).documents(0)
            self.assertEqual([document.tokens for document in lane], expected)

    def test_failure_comes_behind_every_step_before_it(self):
        self.write_docs("abcdefghijklmnopqrst")
        with open(os.path.join(self.folder, "docs.jsonl"), "ab") as file:
            file.write(b"{}\n")
        found = []
        with self.assertRaises(documents.Failure):
            for step in self.stream(order="file", shuffle={}, lanes=1, global_batch=1).steps():
                found.append([s.document.record for s in step[0].segments])
        self.assertEqual(found, [[2 * i, 2 * i + 1] for i in range(9)])

    def test_repeat_changes_the_order_between_epochs(self):
        self.write_docs(str(i) for i in range(30))
        lane = self.stream(end="repeat", lanes=1).documents(0)
        first, second = ([next(lane).record for _ in range(30)] for _ in range(2))
        self.assertEqual(sorted(first), sorted(second))
        self.assertNotEqual(first, second)


def zstd(data):
    """One zstd frame."""
    return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout


if __name__ == "__main__":
    unittest.main()
