/* SPDX-License-Identifier: Apache-2.0 */
/* The window over encoded bytes: one buffer, filled anew whenever it is used up. */
#include "format/input.h"

#include "base/alloc.h"
#include "base/error.h"

lw_status lw__input_open(lw__input *input, const char *path, uint64_t shard_bytes, uint64_t begin,
                         lw_error *err)
{
    *input = (lw__input){.offset = begin};
    input->data = lw__alloc(LW__INPUT_BYTES);
    if (input->data == NULL) {
        return lw__fail_nomem(err, LW__INPUT_BYTES, "compressed bytes");
    }
    lw_status status = lw__storage_open(path, shard_bytes, &input->object, err);
    if (status != LW_OK) {
        lw__input_close(input);
    }
    return status;
}

lw_status lw__input_fill(lw__input *input, lw_error *err)
{
    if (input->at < input->count) {
        return LW_OK;
    }
    uint64_t offset = input->offset + input->count;
    uint64_t left = input->object->bytes - offset;
    size_t count = left < LW__INPUT_BYTES ? (size_t)left : (size_t)LW__INPUT_BYTES;
    LW__TRY(lw__storage_read(input->object, offset, input->data, count, err));
    input->offset = offset;
    input->at = 0;
    input->count = count;
    return LW_OK;
}

uint64_t lw__input_offset(const lw__input *input)
{
    return input->offset + input->at;
}

void lw__input_close(lw__input *input)
{
    lw__storage_close(input->object);
    lw__free(input->data);
    *input = (lw__input){0};
}
