/* SPDX-License-Identifier: Apache-2.0 */
/*
 * General categories, for regexes that name them. The order of the numbers is that of the table,
 * which tools/unicode-tables writes.
 */
#ifndef LW__TOKENIZE_UNICODE_CATEGORIES_H
#define LW__TOKENIZE_UNICODE_CATEGORIES_H

#include <stdint.h>

/* Two letters each; a category's number is its place here. */
#define LW__CATEGORY_NAMES "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCoCn"
#define LW__CATEGORIES     30

#define LW__CATEGORY_RUNS 4099
#define LW__CATEGORY_BITS 5

extern const uint32_t lw__category_runs[LW__CATEGORY_RUNS];

#endif
