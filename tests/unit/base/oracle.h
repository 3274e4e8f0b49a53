/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the cases that oracle.py prints. Tests include this once; they run in the tree's top. */
#ifndef LW__TEST_ORACLE_H
#define LW__TEST_ORACLE_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORACLE_SKIP = 77 };

/* The bytes of a hex word ("-": none) in a block of exactly their count, so that a sanitizer sees
 * any step beyond it. */
static unsigned char *oracle_bytes(const char *hex, size_t *count)
{
    *count = hex[0] == '-' ? 0 : strlen(hex) / 2;
    unsigned char *bytes = malloc(*count > 0 ? *count : 1);
    for (size_t i = 0; bytes != NULL && i < *count; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return bytes;
}

/* Calls check for the words of each line; returns the number of lines. */
static size_t oracle_run(const char *kind, void (*check)(char *words[3]))
{
    char command[64];
    snprintf(command, sizeof command, "python3 tests/unit/base/oracle.py %s", kind);
    FILE *cases = popen(command, "r");
    char *line = NULL;
    size_t capacity = 0;
    size_t lines = 0;
    while (cases != NULL && getline(&line, &capacity, cases) > 0) {
        char *rest = NULL;
        char *words[3] = {strtok_r(line, " \n", &rest), strtok_r(NULL, " \n", &rest),
                          strtok_r(NULL, " \n", &rest)};
        check(words);
        lines++;
    }
    free(line);
    return cases != NULL && pclose(cases) == 0 ? lines : 0;
}

static int oracle_is_missing(void)
{
    return system("python3 -c 'import json' 2>/dev/null") != 0;
}

#endif
