/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the JSON reader share; for json.c and json_string.c only. */
#ifndef LW__BASE_JSON_STRING_H
#define LW__BASE_JSON_STRING_H

#include "base/json.h"

/* Keeps the first fault and its place. Returns NULL, so that a scan can end with it. */
void *lw__json_fail(lw__json *json, unsigned char *at, const char *fault);

/* Decodes the string whose opening quote is at json->at down to `to`, at or before its first byte. */
lw_str lw__json_decode_string(lw__json *json, unsigned char *to);

/* Passes it without decoding; a lone surrogate, being in no text that is used, passes too. */
void lw__json_pass_string(lw__json *json);

#endif
