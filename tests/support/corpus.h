/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up documents in JSONL files: the text of each is a function of its number. */
#ifndef LW__TEST_CORPUS_H
#define LW__TEST_CORPUS_H

#include <stddef.h>
#include <stdint.h>

enum { CORPUS_TEXT = 256 };

/* The text of document `number` of a corpus; at most `most` bytes (below CORPUS_TEXT), at least 1. */
void corpus_text(uint64_t seed, uint64_t number, size_t most, char out[CORPUS_TEXT]);
/* Writes `count` documents to a file of the scratch folder. */
void corpus_write(const char *name, uint64_t seed, uint64_t count, size_t most);

#endif
