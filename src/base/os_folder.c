/* SPDX-License-Identifier: Apache-2.0 */
/* Listing a folder. */
#include "base/os_folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"

lw_status lw__os_list_folder(const char *layer, const char *path, lw__bytes *out, bool *is_folder,
                             lw_error *err)
{
    DIR *folder = opendir(path);
    *is_folder = folder != NULL;
    if (folder == NULL) {
        return errno == ENOENT || errno == ENOTDIR
                   ? LW_OK
                   : lw__fail_os(err, LW_E_IO, errno, "%s: \"%s\"", layer, path);
    }
    errno = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        lw__bytes_put(out, entry->d_name, strlen(entry->d_name) + 1);
    }
    int failure = errno;
    (void)closedir(folder);
    if (out->failed) {
        return lw__fail_nomem(err, out->count, "the names in a folder");
    }
    return failure == 0 ? LW_OK : lw__fail_os(err, LW_E_IO, failure, "%s: \"%s\"", layer, path);
}
