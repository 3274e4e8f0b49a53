/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a test. Anything that goes wrong here ends the test program. */
#include "support/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, PATHS = 4 };

static char folder[PATH_BYTES];

static void require(int fine, const char *what)
{
    if (!fine) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    return place->level == 0 ? 0 : remove(path);
}

int scratch_open(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/laneway-test-XXXXXX", parent != NULL ? parent : P_tmpdir);
    require(mkdtemp(folder) != NULL, folder);
    return 0;
}

void scratch_clear(void)
{
    require(nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0, folder);
}

int scratch_close(void **state)
{
    (void)state;
    scratch_clear();
    require(rmdir(folder) == 0, folder);
    return 0;
}

const char *scratch_folder(void)
{
    return folder;
}

const char *scratch_path(const char *name)
{
    static char paths[PATHS][2 * PATH_BYTES];
    static unsigned next;
    char *path = paths[next++ % PATHS];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void make_folders(const char *path)
{
    char part[2 * PATH_BYTES];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(part, 0777);
        *slash = '/';
    }
}

void scratch_write(const char *name, const void *data, size_t count)
{
    const char *path = scratch_path(name);
    make_folders(path);
    FILE *file = fopen(path, "wb");
    require(file != NULL, path);
    require(fwrite(data, 1, count, file) == count, path);
    require(fclose(file) == 0, path);
}

void scratch_write_text(const char *name, const char *text)
{
    scratch_write(name, text, strlen(text));
}
