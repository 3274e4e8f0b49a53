/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the JSON reader share; for json.c and json_string.c only. */
#ifndef LW__BASE_JSON_STRING_H
#define LW__BASE_JSON_STRING_H

#include "base/json.h"

#if defined(__x86_64__) && !defined(LW__NO_SIMD)
#define LW__JSON_HAS_AVX512 1
#else
#define LW__JSON_HAS_AVX512 0
#endif

/* What a one-letter escape stands for; 0 for a letter that is none. */
extern const unsigned char lw__json_unescaped[256];

#if LW__JSON_HAS_AVX512
/*
 * Decodes what lies at `in` down to *out, at or before it. Stops at a quote, a control byte, an
 * escape of more than one letter, and near `end`; returns where. For lw__cpu_has_avx512 only.
 */
unsigned char *lw__json_decode_avx512(unsigned char *in, const unsigned char *end,
                                      unsigned char **out);
#endif

/* Keeps the first fault and its place. Returns NULL, so that a scan can end with it. */
void *lw__json_fail(lw__json *json, unsigned char *at, const char *fault);

/* Decodes the string whose opening quote is at json->at down to `to`, at or before its first byte. */
lw_str lw__json_decode_string(lw__json *json, unsigned char *to);

/* Passes it without decoding; a lone surrogate, being in no text that is used, passes too. */
void lw__json_pass_string(lw__json *json);

#endif
