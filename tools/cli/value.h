/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of a JSON object as plain values; what is absent or of another type is "", 0 or 0.0. */
#pragma once

#include <jansson.h>

static inline const char *value_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static inline long long value_integer(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static inline double value_real(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}
