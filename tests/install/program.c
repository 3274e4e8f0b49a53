/* SPDX-License-Identifier: Apache-2.0 */
/* The least a user's program does: includes the headers, calls the library, prints. */
#include <stdio.h>
#include <string.h>

#include <laneway/laneway.h>

int main(void)
{
    const char *name = lw_status_name(LW_E_IO);
    printf("%d.%d.%d %s\n", LW_VERSION_MAJOR, LW_VERSION_MINOR, LW_VERSION_PATCH, name);
    return strcmp(name, "LW_E_IO") == 0 ? 0 : 1;
}
