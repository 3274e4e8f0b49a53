/* SPDX-License-Identifier: Apache-2.0 */
/* A .tiktoken file of any bytes; the first one chooses the pattern. */
#include "opening.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const patterns[] = {"gpt2",   "cl100k", "o200k",  "llama3",
                                           "llama4", "qwen",   "qwen3_6"};
    char path[FUZZ_PATH_BYTES];
    if (size == 0) {
        return 0;
    }
    fuzz_path(path, "ranks.tiktoken");
    fuzz_write(path, data + 1, size - 1);
    lw__tokenizer_options options = {
        .path = path, .pattern = patterns[data[0] % (sizeof patterns / sizeof patterns[0])]};
    fuzz_open(&options, data, size);
    (void)unlink(path);
    return 0;
}
