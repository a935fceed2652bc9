/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bodies are JSON objects, each described by a table of its fields: what is not in the table, has
 * another type or is out of range is answered with 400 and a line that names it.
 */
#include "api_routes.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16 /* what goes in here nests twice at most */

/* Brackets outside of strings; what is no JSON otherwise, the parser will tell. */
static bool depth_fits(const char *text, size_t length)
{
	bool string = false;
	int depth = 0;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (string && c == '\\')
			i++;
		else if (c == '"')
			string = !string;
		else if (!string && (c == '{' || c == '[') && ++depth > DEPTH_MAX)
			return false;
		else if (!string && (c == '}' || c == ']'))
			depth--;
	}
	return true;
}

static const struct api_field *field_find(
	const struct api_field *fields, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

/* The value as JSON, shortened. */
static char *value_show(const json_t *value, char text[static API_SHOWN])
{
	size_t length = json_dumpb(value, text, API_SHOWN - 1, JSON_ENCODE_ANY | JSON_COMPACT);

	if (length < API_SHOWN)
		text[length] = 0;
	else
		strcpy(text + API_SHOWN - 4, "...");
	return text;
}

static bool text_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static bool field_check(
	const struct api_field *field, const json_t *value, struct gw_http_reply *reply)
{
	char shown[API_SHOWN] = "";

	if (field->type == API_INTEGER &&
		(!json_is_integer(value) || json_integer_value(value) < field->min ||
			json_integer_value(value) > field->max)) {
		api_error(reply, 400, "\"%s\" is %s: it must be an integer from %lld to %lld",
			field->name, value_show(value, shown), field->min, field->max);
		return false;
	}
	if (field->type == API_BOOLEAN && !json_is_boolean(value)) {
		api_error(reply, 400, "\"%s\" is %s: it must be true or false", field->name,
			value_show(value, shown));
		return false;
	}
	if (field->type != API_TEXT)
		return true;
	if (!json_is_string(value)) {
		api_error(reply, 400, "\"%s\" is %s: it must be a text", field->name,
			value_show(value, shown));
		return false;
	}
	if (json_string_length(value) > (size_t)field->max) {
		api_error(reply, 400, "\"%s\" has %zu bytes: %lld are possible", field->name,
			json_string_length(value), field->max);
		return false;
	}
	if (!text_plain(json_string_value(value))) {
		api_error(reply, 400, "\"%s\" has a control character in it", field->name);
		return false;
	}
	return true;
}

static void unknown_say(
	const char *name, const struct api_field *fields, size_t count, struct gw_http_reply *reply)
{
	char known[256] = "";

	for (size_t i = 0; i < count; i++) {
		strncat(known, i ? ", " : "", sizeof(known) - strlen(known) - 1);
		strncat(known, fields[i].name, sizeof(known) - strlen(known) - 1);
	}
	if (count)
		api_error(reply, 400, "\"%.60s\" is not known here; there are: %s", name, known);
	else
		api_error(reply, 400, "\"%.60s\" is not known here: the body is {}", name);
}

static bool fields_check(
	json_t *body, const struct api_field *fields, size_t count, struct gw_http_reply *reply)
{
	const char *name;
	json_t *value;

	json_object_foreach (body, name, value) {
		const struct api_field *field = field_find(fields, count, name);

		if (!field) {
			unknown_say(name, fields, count, reply);
			return false;
		}
		if (!field_check(field, value, reply))
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (fields[i].missing && !json_object_get(body, fields[i].name)) {
			api_error(reply, 400, "\"%s\" is missing: %s", fields[i].name,
				fields[i].missing);
			return false;
		}
	}
	return true;
}

json_t *api_body(const struct api_call *call, const struct api_field *fields, size_t count,
	struct gw_http_reply *reply)
{
	const struct gw_http_request *request = call->request;
	json_error_t error;
	json_t *body;

	if (!depth_fits(request->body, request->body_length)) {
		api_error(reply, 400, "the body is nested more than %d deep", DEPTH_MAX);
		return NULL;
	}
	body = request->body_length ? json_loadb(request->body, request->body_length,
					      JSON_REJECT_DUPLICATES, &error)
				    : json_object();
	if (json_is_object(body) && fields_check(body, fields, count, reply))
		return body;
	if (!body)
		api_error(reply, 400, "the body is no JSON: line %d, column %d: %s", error.line,
			error.column, error.text);
	else if (!json_is_object(body))
		api_error(reply, 400, "the body must be a JSON object");
	json_decref(body);
	return NULL;
}
