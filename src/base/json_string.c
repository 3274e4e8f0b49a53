/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strings of JSON. Nearly all bytes of training data are inside long strings, so this is the
 * hot path: a run up to the next quote, backslash or control byte is found 16 or 8 bytes at a time
 * and moved as a whole; only the escapes between runs are looked at byte by byte. What AVX-512 can
 * do goes before it.
 */
#include "base/json_string.h"

#include <string.h>

#include "base/cpu.h"

#if defined(__SSE2__) && !defined(LW__NO_SIMD)
#define HAVE_SSE2 1
#include <emmintrin.h>
#else
#define HAVE_SSE2 0
#endif

void *lw__json_fail(lw__json *json, unsigned char *at, const char *fault)
{
    if (json->fault == NULL) {
        json->fault = fault;
        json->at = at;
    }
    return NULL;
}

static bool is_special(unsigned char c)
{
    return c == '"' || c == '\\' || c < 0x20;
}

#if HAVE_SSE2
enum { WIDE = 16 }; /* bytes of a vector */

/* The places in p[0..16) that end a run, one bit each. */
static unsigned special_mask(__m128i v)
{
    __m128i hit =
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v));
    return (unsigned)_mm_movemask_epi8(hit);
}

#else
/* A set top bit for each byte that is zero; bytes above the lowest such one may be wrong. */
static uint64_t zero_bytes(uint64_t word)
{
    return (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
}

static bool has_special(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    uint64_t quote = zero_bytes(word ^ UINT64_C(0x2222222222222222));
    uint64_t escape = zero_bytes(word ^ UINT64_C(0x5C5C5C5C5C5C5C5C));
    uint64_t control = zero_bytes(word & UINT64_C(0xE0E0E0E0E0E0E0E0));
    return (quote | escape | control) != 0;
}
#endif

/* The first quote, backslash or control byte of [p, end); end when there is none. */
static unsigned char *find_special(unsigned char *p, const unsigned char *end)
{
#if HAVE_SSE2
    while (end - p >= 16) {
        unsigned mask = special_mask(_mm_loadu_si128((const __m128i_u *)p));
        if (mask != 0) {
            return p + __builtin_ctz(mask);
        }
        p += 16;
    }
#else
    while (end - p >= 8 && !has_special(p)) {
        p += 8;
    }
#endif
    while (p < end && !is_special(*p)) {
        p++;
    }
    return p;
}

static const char *const string_cut = "the text ends in a string, expected '\"'";

const unsigned char lw__json_unescaped[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* The value of a hex digit; -1 for a byte that is none. */
static int32_t hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20; /* lower case */
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of the four hex digits at p; -1 when they are not there. */
static int32_t hex4(const unsigned char *p, const unsigned char *end)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int32_t digit = p + i < end ? hex_digit(p[i]) : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static unsigned char *put_utf8(unsigned char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (unsigned char)c;
        return out;
    }
    if (c < 0x800) {
        *out++ = (unsigned char)(0xC0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *out++ = (unsigned char)(0xE0 | c >> 12);
        } else {
            *out++ = (unsigned char)(0xF0 | c >> 18);
            *out++ = (unsigned char)(0x80 | (c >> 12 & 0x3F));
        }
        *out++ = (unsigned char)(0x80 | (c >> 6 & 0x3F));
    }
    *out++ = (unsigned char)(0x80 | (c & 0x3F));
    return out;
}

/* The value of the \u escape at p; -1 when there is none. */
static int32_t next_unit(const unsigned char *p, const unsigned char *end)
{
    return end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
}

/* Decodes the \u escape (or pair) at `in` to *out; returns what follows it, NULL on a fault. */
static unsigned char *decode_unicode(lw__json *json, unsigned char *in, unsigned char **out)
{
    int32_t unit = hex4(in + 2, json->end);
    if (unit < 0) {
        return lw__json_fail(json, in, "a bad \\u escape, expected four hex digits");
    }
    unsigned char *next = in + 6;
    uint32_t c = (uint32_t)unit;
    if (c >= 0xD800 && c < 0xE000) {
        int32_t low = c < 0xDC00 ? next_unit(next, json->end) : -1;
        if (low >= 0xDC00 && low < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
            next += 6;
        } else if (json->replace_surrogates) {
            c = 0xFFFD;
            json->replaced_at = in;
        } else {
            return lw__json_fail(json, in, "a lone surrogate, expected a pair");
        }
    }
    *out = put_utf8(*out, c);
    return next;
}

static unsigned char *decode_escape(lw__json *json, unsigned char *in, unsigned char **out)
{
    if (json->end - in < 2) {
        return lw__json_fail(json, json->end, string_cut);
    }
    if (in[1] == 'u') {
        return decode_unicode(json, in, out);
    }
    unsigned char c = lw__json_unescaped[in[1]];
    if (c == 0) {
        return lw__json_fail(
            json, in, "an unknown escape, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
    }
    *(*out)++ = c;
    return in + 2;
}

/* Says why a string cannot go on at p, which is neither a quote nor a backslash. */
static void *fail_string(lw__json *json, unsigned char *p)
{
    return lw__json_fail(json, p,
                         p == json->end ? string_cut
                                        : "a control character in a string, expected an escape");
}

#if HAVE_SSE2
/*
 * Decodes from `in` down to *out, which lies at least WIDE bytes before it: so whole vectors can be
 * stored before it is known how much of them belongs to the run, without harm to what is unread.
 * One-letter escapes are done on the way. Stops at anything else, and near `end`.
 */
static unsigned char *decode_wide(unsigned char *in, const unsigned char *end, unsigned char **out)
{
    unsigned char *to = *out;
    while (end - in >= WIDE + 2) {
        __m128i v = _mm_loadu_si128((const __m128i_u *)in);
        _mm_storeu_si128((__m128i_u *)to, v);
        unsigned mask = special_mask(v);
        if (mask == 0) {
            in += WIDE;
            to += WIDE;
            continue;
        }
        int run = __builtin_ctz(mask);
        in += run;
        to += run;
        if (*in != '\\' || lw__json_unescaped[in[1]] == 0) {
            break;
        }
        *to++ = lw__json_unescaped[in[1]];
        in += 2;
    }
    *out = to;
    return in;
}
#endif

/* Moves the run at `in` down to *out, and what it can decode on the way; returns the run's end. */
static unsigned char *move_run(unsigned char *in, const unsigned char *end, unsigned char **out)
{
    if (in < end && *in == '\\') {
        return in;
    }
#if LW__JSON_HAS_AVX512
    if (in != *out && lw__cpu_has_avx512()) { /* a key or a short text has nothing to move */
        in = lw__json_decode_avx512(in, end, out);
    }
#endif
#if HAVE_SSE2
    if (in - *out >= WIDE) {
        in = decode_wide(in, end, out);
    }
#endif
    unsigned char *run_end = find_special(in, end);
    size_t run = (size_t)(run_end - in);
    if (*out != in && run > 0) {
        memmove(*out, in, run);
    }
    *out += run;
    return run_end;
}

lw_str lw__json_decode_string(lw__json *json, unsigned char *to)
{
    unsigned char *in = json->at + 1;
    unsigned char *out = to;
    while (in != NULL) {
        unsigned char *run_end = move_run(in, json->end, &out);
        if (run_end < json->end && *run_end == '"') {
            json->at = run_end + 1;
            return (lw_str){(const char *)to, (size_t)(out - to)};
        }
        in = run_end < json->end && *run_end == '\\' ? decode_escape(json, run_end, &out)
                                                     : fail_string(json, run_end);
    }
    return (lw_str){"", 0};
}

/* Passes the escape at `in`; returns what follows it, NULL on a fault. */
static unsigned char *pass_escape(lw__json *json, unsigned char *in)
{
    unsigned char decoded[4];
    if (json->end - in >= 2 && in[1] == 'u') {
        return hex4(in + 2, json->end) >= 0
                   ? in + 6
                   : lw__json_fail(json, in, "a bad \\u escape, expected four hex digits");
    }
    unsigned char *out = decoded;
    return decode_escape(json, in, &out);
}

void lw__json_pass_string(lw__json *json)
{
    unsigned char *in = json->at + 1;
    while (in != NULL) {
        in = find_special(in, json->end);
        if (in < json->end && *in == '"') {
            json->at = in + 1;
            return;
        }
        in = in < json->end && *in == '\\' ? pass_escape(json, in) : fail_string(json, in);
    }
}
