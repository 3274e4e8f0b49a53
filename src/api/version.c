/* SPDX-License-Identifier: Apache-2.0 */
/* The version, as text. */
#include <laneway/version.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *lw_version(void)
{
    return TEXT(LW_VERSION_MAJOR) "." TEXT(LW_VERSION_MINOR) "." TEXT(LW_VERSION_PATCH);
}
