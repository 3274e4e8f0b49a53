/* SPDX-License-Identifier: Apache-2.0 */
/* Lower-case words of random lengths, started by the document's number. */
#include "support/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laneway/random.h>

#include "support/scratch.h"

enum { PURPOSE = 1001 };

void corpus_text(uint64_t seed, uint64_t number, size_t most, char out[CORPUS_TEXT])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz     ";
    size_t bytes = 1 + lw_random_key(seed, PURPOSE, number, 0, 0) % most;
    int head = snprintf(out, CORPUS_TEXT, "%llu ", (unsigned long long)number);
    for (size_t i = (size_t)head; i < bytes; i++) {
        out[i] = letters[lw_random_key(seed, PURPOSE, number, i, 1) % (sizeof letters - 1)];
    }
    out[bytes > (size_t)head ? bytes : (size_t)head] = '\0';
}

void corpus_write(const char *name, uint64_t seed, uint64_t count, size_t most)
{
    const size_t line = CORPUS_TEXT + 32;
    char *text = malloc(count * line + 1);
    size_t used = 0;
    if (text == NULL) {
        perror(name);
        exit(EXIT_FAILURE);
    }
    for (uint64_t i = 0; i < count; i++) {
        char document[CORPUS_TEXT];
        corpus_text(seed, i, most, document);
        used += (size_t)snprintf(text + used, line, "{\"text\": \"%s\"}\n", document);
    }
    scratch_write(name, text, used);
    free(text);
}
