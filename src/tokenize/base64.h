/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The base64 of vocabulary files: RFC 4648 with padding, and no white space.
 */
#ifndef LW__TOKENIZE_BASE64_H
#define LW__TOKENIZE_BASE64_H

#include <stddef.h>

/* Decodes in place and returns the number of bytes; -1 when the text is empty or no such base64. */
ptrdiff_t lw__base64_decode(unsigned char *text, size_t count);

#endif
