# SPDX-License-Identifier: Apache-2.0
"""The texts that are compared: every code point, random mixtures, long runs, real documents."""
import base64
import glob
import itertools
import json
import os
import random
import unicodedata

CONTEXTS = [("a", "b"), (" ", "1"), ("1", "23"), ("'", "s"), ("A?", "'s"), ("!", " x"), ("\n", " "),
            ("  ", "  "), ("x ", "! "), ("!", "\r\n\n"), ("\t", "'LL")]
LAST_CLASS = 0x33500  # from here on all code points are of one class, in either reference

ATOMS = (
    ["a", "b", "the", "Hello", "WORLD", "don", "ing", "x", "Z", "é", "ß", "ſ", "K", "д", "Привет",
     "中", "文字", "あ", "한국", "ا", "हि", "𝒜", "ﬁ", "\u0301", "\u200d", "👩\u200d💻", "🎉", "_"]
    + ["0", "1", "12", "123", "4567", "१२३", "²", "½", "１２"]
    + [" ", " ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2028", "\x85",
       "\u1680", "\x0b", "\x1c", "\u180e", "\ufeff", "\x00"]
    + ["'", "'s", "'S", "'t", "'re", "'RE", "'ll", "'lL", "'ve", "'d", "'m", "'ſ", "'x", "’s"]
    + [".", ",", "!", "?!", "...", "---", "/", "\\", "(", ")", "{", "}", "#", "$", "<|", "|>", "€",
       "->", "==", "//", "\u00ad", "\ud7a4", "\ue000", "\U0010ffff"]
)

# Letters and marks of the kinds that only some families tell apart.
MARKED = ["\u0301", "\u0300a", "e\u0301", "\u20dd", "\u093f", "ก", "ั", "ǅ", "ʰ", "ª", "\u3099", "ー", "゛",
          "・", "龦", "HTMLParser", "fooBar", "ABC", "xY", "Ünï", "!\u0301", "/", "\n/", "${a}", "$x",
          "\u200d", "\x01", "\x01\x02", "\u00ad", "'S", "'ſ", "'Re", "“q”", "—", "±", "Ⅷ", "ⓐ"]

# One for each kind of character, and those with a rule of their own.
KINDS = ["A", "a", "ǅ", "한", "中", "あ", "ʰ", "\u0301", "1", " ", "\n", "\u00a0", "!", "±", "/", "'", "s", "ſ",
         "\u200d", "»"]

RUNS = ["a" * 200000, " " * 200000, "\n" * 100000, "^" * 100000, "ab" * 50000, "中" * 50000,
        "1" * 100000, "'s" * 50000, " \n" * 50000, "a" + " " * 1000 + "b", "x" * 32, "x" * 33, ""]


def scalars():
    return (c for c in range(0x110000) if not 0xD800 <= c < 0xE000)


def alone(limit=0x110000):
    return [chr(c) for c in scalars() if c < limit]


def in_context(step_above):
    """Texts of 64 code points each, every one in all contexts; above LAST_CLASS each n-th one."""
    chosen = [chr(c) for c in scalars() if c < LAST_CLASS or c % step_above == 0]
    return ["|".join(before + c + after for c in chosen[i:i + 64] for before, after in CONTEXTS)
            for i in range(0, len(chosen), 64)]


def mixed(count, seed, extra=()):
    generator = random.Random(seed)
    atoms = ATOMS + list(extra)
    return ["".join(generator.choices(atoms, k=generator.randint(1, 16))) for _ in range(count)]


def drawn(count, seed):
    """Up to 12 of the parts above, and now and then any character."""
    generator = random.Random("drawn %d" % seed)
    anything = [chr(c) for c in scalars()]
    parts = (ATOMS + MARKED) * 40 + generator.sample(anything, 1500) + generator.sample(anything[:LAST_CLASS], 1500)
    lengths = generator.choices(range(1, 13), k=count)
    left = iter(generator.choices(parts, k=sum(lengths)))
    return ["".join(itertools.islice(left, length)) for length in lengths]


def short(length):
    """Every string of up to so many of KINDS."""
    found, last = [], [""]
    for _ in range(length):
        last = [text + c for text in last for c in KINDS]
        found += last
    return found


def marked(count, seed, extra=()):
    """Letters with up to five marks, of all that there are; some join and some do not."""
    generator = random.Random(seed)
    marks = [chr(c) for c in scalars() if unicodedata.combining(chr(c))]
    marks += ["\u0301", "\u0323", "\u0308", "\u0304", "\u0345"] * 100
    bases = list("aeoAEs;가각ἀéệか") + ["\u1100", "\u1161", "\u11a8", "\u0915", "\u09c7", "\u0b47", "\u1025",
                                     "\u0dd9", "\U0001d160", "\u0344", "\u212b", "\uf900"] + list(extra)
    return ["".join(generator.choice(bases) + "".join(generator.choices(marks, k=generator.choice([0, 0, 1, 1, 2, 5])))
                    for _ in range(generator.randint(1, 6))) for _ in range(count)]


def decoded(text):
    return base64.b64decode(text)


def whitespace():
    """Every string of up to 6 of five characters, in front of a letter and at the end."""
    found, last = [], [""]
    for _ in range(6):
        last = [text + c for text in last for c in " \n\t\r\u00a0"]
        found += ["a" + text for text in last] + ["a" + text + "b" for text in last]
    return found


def documents(folder, limit_bytes):
    texts, total = [], 0
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        of_file = 0
        with open(path, encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                text = record.get("text") or record.get("content") or ""
                of_file += len(text.encode("utf-8"))
                texts.append(text)
                if of_file > limit_bytes:
                    break
        total += of_file
    return texts, total
