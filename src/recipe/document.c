/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/recipe.md, written from the option table. A unit test compares the file with it.
 */
#include <string.h>

#include "base/error.h"
#include "recipe/options.h"
#include "recipe/recipe.h"

static const char head[] =
    "# Recipe\n"
    "\n"
    "A recipe says what a stream is made of and how it is run. It is a YAML file (so a JSON file "
    "will do), a text, or built\n"
    "call by call with `lw_recipe_set`; equal options give the same recipe either way. This page "
    "is made from the library's option table.\n"
    "\n"
    "```yaml\n"
    "seed: 42\n"
    "lanes: 64\n"
    "global_batch: 512\n"
    "context: 4096\n"
    "sources:\n"
    "  - {name: web, path: data/web, weight: 0.7}\n"
    "  - {name: code, path: [code/a.jsonl.zst, code/b.jsonl.zst], text: content, weight: 0.3}\n"
    "tokenizer: {path: tokenizer.json, eos: true}\n"
    "pack: {algorithm: best_fit}\n"
    "shuffle: {rows: 1024}\n"
    "runtime: {memory: 4GB}\n"
    "```\n"
    "\n"
    "## Rules\n"
    "\n"
    "* A **STREAM** option decides which tokens come, and is part of a checkpoint's fingerprint. A "
    "**SPEED** option never changes them, and may differ on resume.\n"
    "* Relative paths start at the recipe's folder; for a recipe made in memory, at the folder "
    "given with it or the working directory.\n"
    "* A key that is not known, a key twice in a map, an anchor, an alias, a tag and a second "
    "document are errors; the message has the line.\n"
    "* Whole numbers are plain decimal digits without leading zeros: not `0x10`, `1_000` or "
    "`1e6`. A weight may have a point.\n"
    "* Bytes are a whole number, alone or with a unit: KB, MB, GB and TB are powers of 1000; KiB, "
    "MiB, GiB and TiB powers of 1024.\n"
    "* `true`, `false` and `null` without quotes are no text; in quotes they are. Texts are not "
    "empty. YAML reads text such as `[PAD]` or `*` as text only in quotes.\n"
    "* Escapes in double quotes are YAML's: a character beyond U+FFFF is written as itself or as "
    "`\\U0001F600`, not as a pair of JSON escapes.\n"
    "* In the key of a single option (`--set`, `lw_recipe_set`), dots lead into maps and numbers "
    "into the list of sources: `tokenizer.path`, `sources.0.weight`. The number after the last "
    "source adds one. A map or list as the value takes the place of all that was there.\n"
    "\n"
    "Between options:\n"
    "\n"
    "* `global_batch` is a multiple of `lanes`.\n"
    "* Exactly one of `tokenizer.path` and `tokenizer.name` is set; `tokenizer.pattern` only with "
    "the first.\n"
    "* Every source has a name of its own.\n"
    "* `labels.mask_eos: true` needs `tokenizer.eos`.\n"
    "\n"
    "## Options\n"
    "\n"
    "| option | values | default | changes | |\n"
    "|---|---|---|---|---|\n";

static void put_row(const lw__option *option, lw__bytes *out)
{
    lw__bytes_printf(out, "| `%s` | ", option->key);
    lw__option_put_expected(option, out);
    if (option->initial == NULL) {
        lw__bytes_printf(out, " | required");
    } else {
        lw__bytes_printf(out, " | `%s`", option->initial);
    }
    lw__bytes_printf(out, " | %s | %s |\n", option->effect == LW__STREAM ? "STREAM" : "SPEED",
                     option->text);
}

lw_status lw__recipe_document(lw__bytes *out, lw_error *err)
{
    size_t count = 0;
    const lw__option *options = lw__options(&count);
    lw__bytes_put(out, head, sizeof(head) - 1);
    for (size_t i = 0; i < count; i++) {
        put_row(&options[i], out);
    }
    return out->failed ? lw__fail_nomem(err, out->count, "a document") : LW_OK;
}
