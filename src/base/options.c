/* SPDX-License-Identifier: Apache-2.0 */
/* Copying by size, as Linux does for its system calls. */
#include "base/options.h"

#include <string.h>

#include "base/error.h"

static size_t stamped_size(const void *options)
{
    size_t bytes;
    memcpy(&bytes, options, sizeof bytes);
    return bytes;
}

lw_status lw__options_copy(void *full, size_t full_bytes, const void *options, const char *init,
                           lw_error *err)
{
    if (options == NULL) {
        return LW_OK;
    }
    size_t bytes = stamped_size(options);
    if (bytes < sizeof(size_t)) {
        return lw__fail(err, LW_E_INVALID, "options: struct_size is %zu, expected it set by %s",
                        bytes, init);
    }
    for (size_t i = full_bytes; i < bytes; i++) {
        if (((const unsigned char *)options)[i] != 0) {
            return lw__fail(err, LW_E_UNSUPPORTED,
                            "options: byte %zu is set, expected none beyond %zu in this library", i,
                            full_bytes);
        }
    }
    memcpy(full, options, bytes < full_bytes ? bytes : full_bytes);
    return LW_OK;
}

lw_status lw__options_give(void *out, const void *full, size_t full_bytes, const char *name,
                           lw_error *err)
{
    size_t bytes = stamped_size(out);
    if (bytes < sizeof(size_t)) {
        return lw__fail(err, LW_E_INVALID, "%s: struct_size is %zu, expected sizeof(%s)", name,
                        bytes, name);
    }
    memset(out, 0, bytes);
    memcpy(out, full, bytes < full_bytes ? bytes : full_bytes);
    memcpy(out, &bytes, sizeof bytes);
    return LW_OK;
}
