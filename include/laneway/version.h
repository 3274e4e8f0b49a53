/* SPDX-License-Identifier: Apache-2.0 */
/* The one place the version is written; the build reads it from here. */
#ifndef LANEWAY_VERSION_H
#define LANEWAY_VERSION_H

#include <laneway/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LW_VERSION_MAJOR 0
#define LW_VERSION_MINOR 1
#define LW_VERSION_PATCH 0

/** "0.1.0": of the library at run time. Since 0.1. */
LW_API const char *lw_version(void);

#ifdef __cplusplus
}
#endif

#endif
