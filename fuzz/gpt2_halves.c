/* SPDX-License-Identifier: Apache-2.0 */
/* vocab.bpe and encoder.json of any bytes: the merges end at the first NUL. */
#include "opening.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char merges[FUZZ_PATH_BYTES];
    char vocabulary[FUZZ_PATH_BYTES];
    const uint8_t *cut = size > 0 ? memchr(data, 0, size) : NULL;
    if (cut == NULL) {
        return 0;
    }
    fuzz_path(merges, "vocab.bpe");
    fuzz_path(vocabulary, "encoder.json");
    fuzz_write(merges, data, (size_t)(cut - data));
    fuzz_write(vocabulary, cut + 1, size - (size_t)(cut - data) - 1);
    lw__tokenizer_options options = {.path = merges};
    fuzz_open(&options, data, size);
    (void)unlink(merges);
    (void)unlink(vocabulary);
    return 0;
}
