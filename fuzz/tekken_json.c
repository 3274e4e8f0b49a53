/* SPDX-License-Identifier: Apache-2.0 */
/* A tekken.json of any bytes. */
#include "opening.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_BYTES];
    fuzz_path(path, "tekken.json");
    fuzz_write(path, data, size);
    lw__tokenizer_options options = {.path = path};
    fuzz_open(&options, data, size);
    (void)unlink(path);
    return 0;
}
