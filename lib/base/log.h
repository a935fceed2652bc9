/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemons' log: one line a message, to standard error, written by one write() so that lines of
 * several threads never mix. As text, or as one JSON object a line. Under systemd's journal each
 * line of text carries its priority. Libraries return errors; those who call them log, once. Never
 * called on the packet path.
 */
#pragma once

#include <stddef.h>

enum gw_log_level { GW_LOG_ERROR, GW_LOG_WARNING, GW_LOG_INFO, GW_LOG_DEBUG };

enum gw_log_format {
	GW_LOG_TEXT,
	GW_LOG_JSON, /* {"time","level","program","message", and the fields of the message} */
};

/* A part of a message that programs look for; both texts borrowed. */
struct gw_log_field {
	const char *name; /* no character that JSON escapes */
	const char *value;
};

/*
 * Sets the name that opens each line and the least important level that is still written. Called
 * once, before threads start; program must stay valid. Without it the level is GW_LOG_INFO and
 * lines have no name.
 */
void gw_log_open(const char *program, enum gw_log_level level);

/* Text until this is called. Before threads start. */
void gw_log_format_set(enum gw_log_format format);

/* "text" or "json"; 0, or -EINVAL for another word. */
int gw_log_format_parse(const char *word, enum gw_log_format *format);

/*
 * Writes one line; no newline in format. Control characters in the text (it may quote input) are
 * written as '?' (JSON: escaped). Lines over some 1000 bytes are cut. Any thread. Leaves errno as
 * it was.
 */
void gw_log(enum gw_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same; as JSON the object has the fields too, those with an empty value left out. */
void gw_log_fields(enum gw_log_level level, const struct gw_log_field *fields, size_t count,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

#define gw_log_error(...)   gw_log(GW_LOG_ERROR, __VA_ARGS__)
#define gw_log_warning(...) gw_log(GW_LOG_WARNING, __VA_ARGS__)
#define gw_log_info(...)    gw_log(GW_LOG_INFO, __VA_ARGS__)
#define gw_log_debug(...)   gw_log(GW_LOG_DEBUG, __VA_ARGS__)
