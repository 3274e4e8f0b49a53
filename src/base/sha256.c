/* SPDX-License-Identifier: Apache-2.0 */
/* A libcrypto context that is made once: fetching the algorithm costs more than hashing a row. */
#include "base/sha256.h"

#include <openssl/evp.h>

#include "base/alloc.h"
#include "base/error.h"

struct lw__sha256 {
    EVP_MD *algorithm;
    EVP_MD_CTX *context;
    int fine;
};

lw_status lw__sha256_create(lw__sha256 **out, lw_error *err)
{
    lw__sha256 *hasher = lw__alloc_zero(1, sizeof *hasher);
    *out = NULL;
    if (hasher == NULL) {
        return lw__fail_nomem(err, sizeof *hasher, "a hasher");
    }
    hasher->algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    hasher->context = EVP_MD_CTX_new();
    if (hasher->algorithm == NULL || hasher->context == NULL) {
        lw__sha256_destroy(hasher);
        return lw__fail(err, LW_E_UNSUPPORTED, "libcrypto: no SHA-256 here, expected one");
    }
    *out = hasher;
    return LW_OK;
}

void lw__sha256_destroy(lw__sha256 *hasher)
{
    if (hasher != NULL) {
        EVP_MD_CTX_free(hasher->context);
        EVP_MD_free(hasher->algorithm);
        lw__free(hasher);
    }
}

void lw__sha256_begin(lw__sha256 *hasher)
{
    hasher->fine = EVP_DigestInit_ex2(hasher->context, hasher->algorithm, NULL);
}

void lw__sha256_add(lw__sha256 *hasher, const void *data, size_t bytes)
{
    hasher->fine = hasher->fine && EVP_DigestUpdate(hasher->context, data, bytes);
}

int lw__sha256_end(lw__sha256 *hasher, uint8_t out[LW__SHA256_BYTES])
{
    unsigned int bytes = LW__SHA256_BYTES;
    return hasher->fine && EVP_DigestFinal_ex(hasher->context, out, &bytes);
}
