/* SPDX-License-Identifier: Apache-2.0 */
/* Where a splitter cuts: each case is a text and its pieces, with '|' at the cuts. */
#ifndef SPLIT_CUTS_H
#define SPLIT_CUTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tokenize/split.h"

/* Puts the pieces of a text together again, with '|' between them. */
static inline void join_pieces(const lw__split_rules *rules, const char *text, size_t room,
                               char *out)
{
    size_t bytes = strlen(text);
    size_t at = 0;
    size_t ends[8];
    while (at < bytes) {
        size_t count = lw__split(rules, (const unsigned char *)text, bytes, at, ends, room);
        assert_true(count > 0 && count <= room);
        for (size_t i = 0; i < count; i++) {
            assert_true(ends[i] > at && ends[i] <= bytes);
            if (at > 0) {
                *out++ = '|';
            }
            memcpy(out, text + at, ends[i] - at);
            out += ends[i] - at;
            at = ends[i];
        }
    }
    *out = '\0';
}

/* `pieces` is the text with '|' put in at each cut. */
static inline void cuts(const lw__split_rules *rules, const char *pieces)
{
    char text[256];
    char found[512];
    size_t bytes = 0;
    for (const char *p = pieces; *p != '\0'; p++) {
        text[bytes] = *p;
        bytes += *p != '|';
    }
    text[bytes] = '\0';
    join_pieces(rules, text, 8, found);
    assert_string_equal(found, pieces);
    join_pieces(rules, text, 1, found);
    assert_string_equal(found, pieces);
}

#endif
