/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, from libcrypto. A hasher is used again and again by one thread. */
#ifndef LW__BASE_SHA256_H
#define LW__BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#define LW__SHA256_BYTES 32

typedef struct lw__sha256 lw__sha256;

lw_status lw__sha256_create(lw__sha256 **out, lw_error *err);
void lw__sha256_destroy(lw__sha256 *hasher);
void lw__sha256_begin(lw__sha256 *hasher);
void lw__sha256_add(lw__sha256 *hasher, const void *data, size_t bytes);
/* Returns false when libcrypto refused at any point since begin. */
int lw__sha256_end(lw__sha256 *hasher, uint8_t out[LW__SHA256_BYTES]);

#endif
