/* SPDX-License-Identifier: BSD-2-Clause */
/* The serialised view's layout, shared by writer and loader. Internal; serialize.c describes it. */
#pragma once

#include <stdint.h>

#define SERIAL_MAGIC	"gwchash" /* with its NUL: 8 bytes */
#define SERIAL_FORMAT	1u
#define SERIAL_HEADER	80u /* bytes before the first member */
#define SERIAL_CHECKSUM 8u  /* bytes at the end */
#define SERIAL_DIGEST	16u /* bytes before those */
