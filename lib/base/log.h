/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemons' log: one line of text a message, to standard error, written by one write() so that
 * lines of several threads never mix. Under systemd's journal each line carries its priority.
 * Libraries return errors; those who call them log, once. Never called on the packet path.
 */
#pragma once

enum gw_log_level { GW_LOG_ERROR, GW_LOG_WARNING, GW_LOG_INFO, GW_LOG_DEBUG };

/*
 * Sets the name that opens each line and the least important level that is still written. Called
 * once, before threads start; program must stay valid. Without it the level is GW_LOG_INFO and
 * lines have no name.
 */
void gw_log_open(const char *program, enum gw_log_level level);

/*
 * Writes one line; no newline in format. Control characters in the text (it may quote input) are
 * written as '?'. Lines over some 1000 bytes are cut. Any thread. Leaves errno as it was.
 */
void gw_log(enum gw_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define gw_log_error(...)   gw_log(GW_LOG_ERROR, __VA_ARGS__)
#define gw_log_warning(...) gw_log(GW_LOG_WARNING, __VA_ARGS__)
#define gw_log_info(...)    gw_log(GW_LOG_INFO, __VA_ARGS__)
#define gw_log_debug(...)   gw_log(GW_LOG_DEBUG, __VA_ARGS__)
