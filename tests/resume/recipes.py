# SPDX-License-Identifier: Apache-2.0
"""The recipes of the resume test: drawn by a fixed seed, both packers, small blocks, epochs that end."""
import json
import os
import random

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/data")
WORDS = ("lanes", "give", "rows", "to", "each", "step", "naïve", "of", "a", "stream", "日本", "that", "never", "waits")

# What each recipe must have; the rest is drawn.
KINDS = (
    {"pack": {"algorithm": "wrap"}, "labels": {"shift": "stream"}, "tokenizer": {"name": "bytes", "eos": True}},
    {"pack": {"algorithm": "best_fit", "open_rows": 5}, "labels": {"shift": "document"},
     "tokenizer": {"path": os.path.join(DATA, "tokenizer.json"), "eos": True}},
    {"pack": {"algorithm": "best_fit", "open_rows": 9}, "labels": {"shift": "stream"},
     "tokenizer": {"name": "bytes", "bos": True}, "mixture": {"unit": "documents"}},
)


def write_source(draw, folder, name):
    """A shard of documents from nothing to some hundred bytes; less than forty steps use up."""
    path = os.path.join(folder, name + ".jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for number in range(draw.randint(25, 50)):
            words = draw.choices(WORDS, k=draw.choice((0, 1, 5, 12, 40)))
            file.write(json.dumps({"text": " ".join([name, str(number), *words])}, ensure_ascii=False) + "\n")
    return {"name": name, "path": path, "block": draw.randint(200, 700), "weight": draw.randint(1, 9)}


def write_recipe(number, folder):
    """Writes recipe and data into the folder; (path of the recipe, rows of a step)."""
    draw = random.Random(f"resume recipe {number}")
    lanes = draw.choice((2, 3, 4, 6))
    recipe = {"seed": draw.getrandbits(64), "lanes": lanes, "global_batch": 12,
              "context": draw.randint(20, 48),
              "sources": [write_source(draw, folder, name) for name in ("one", "two", "three")[:draw.randint(2, 3)]],
              "shuffle": {"rows": draw.randint(3, 11)}, **KINDS[number]}
    path = os.path.join(folder, "recipe.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(recipe, file, indent=1)
    return path, recipe["global_batch"]


def write_worlds_recipe(folder):
    """The sample data in eight lanes with a step of 48 rows, which ten world sizes divide."""
    names = ("notes", "guides", "tales")
    recipe = {"seed": 5, "lanes": 8, "global_batch": 48, "context": 64,
              "sources": [{"name": name, "path": os.path.join(DATA, name + ".jsonl")} for name in names],
              "tokenizer": {"path": os.path.join(DATA, "tokenizer.json"), "eos": True},
              "pack": {"algorithm": "best_fit"}, "shuffle": {"rows": 16}}
    path = os.path.join(folder, "worlds.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(recipe, file, indent=1)
    return path, recipe["global_batch"]
