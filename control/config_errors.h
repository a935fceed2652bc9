/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collecting what is wrong. The list keeps its own copies, so it outlives the files and the model
 * that the errors are about.
 */
#pragma once

#include "config.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A value or key as a message quotes it: at most 60 bytes, control characters as '?'. */
#define CONFIG_QUOTE_MAX 80
char *config_quote(const char *text, char quoted[static CONFIG_QUOTE_MAX]);
char *config_quote_bytes(const char *text, size_t len, char quoted[static CONFIG_QUOTE_MAX]);

/* Whether one more would only be counted: then its message need not be made with care. */
bool config_errors_full(const struct gw_config_errors *errors);

/* Returns 0 or -ENOMEM; path is empty when there is none to name. */
int config_error_add(struct gw_config_errors *errors, const struct gw_place *place,
	const char *path, const char *format, ...) __attribute__((format(printf, 4, 5)));
int config_error_addv(struct gw_config_errors *errors, const struct gw_place *place,
	const char *path, const char *format, va_list args) __attribute__((format(printf, 4, 0)));

/* By file in the order of files, then by line and column; equal ones stay as they were found. */
void config_errors_sort(struct gw_config_errors *errors, const char *const *files, size_t count);
