/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenize/piece_keys.h"

void lw__piece_keys_portable(lw__piece_batch *batch, const lw__cache *cache,
                             const unsigned char *text, size_t bytes, size_t count)
{
    batch->longer_count = 0;
    for (size_t i = 0; i < count; i++) {
        lw__piece_keys_put(batch, cache, text, bytes, i);
    }
}
