/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The `guideway` command. main.c holds one table with a row a command; options and words are read
 * there, so that a row's function only does its work and returns the exit status. Commands talk to
 * guideway-control by HTTP on its Unix socket (client.c), or work on a file alone (--config).
 */
#pragma once

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

#define CLI_SOCKET_DEFAULT "/run/guideway/control.sock"

/* Exit statuses of every program of the project. */
enum cli_exit {
	CLI_DONE = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_UNREACHABLE = 3,
	CLI_ABSENT = 4,
	CLI_INVALID = 5,
};

/* Which options a command takes, besides --help and --socket. */
enum cli_option {
	CLI_JSON = 1 << 0,
	CLI_CONFIG = 1 << 1,
	CLI_FULL = 1 << 2,
	CLI_WATCH = 1 << 3,
	CLI_FOLLOW = 1 << 4,
	CLI_SINCE = 1 << 5,
	CLI_REASON = 1 << 6,
	CLI_ALL = 1 << 7,
	CLI_SOCKET = 1 << 8,
	CLI_STEER = 1 << 9,
	CLI_WAIT = 1 << 10,
	CLI_UNTIL_FLOWS = 1 << 11,
	CLI_TIMEOUT = 1 << 12,
	CLI_ONCE = 1 << 13,
	CLI_INTERVAL = 1 << 14,
	CLI_OUTPUT = 1 << 15,
	CLI_APPLY = 1 << 16,
	CLI_LIMIT = 1 << 17,
	CLI_ACCEPT_MOVES = 1 << 18,
	CLI_CONFIRM = 1 << 19,
	CLI_TTL = 1 << 20,
	CLI_AGAINST = 1 << 21,
};

struct cli {
	const char *socket;
	const char *config; /* --config FILE; NULL: ask the daemon */
	const char *reason;
	const char *against; /* plan: the file to compare with, instead of the daemon */
	unsigned long long confirm_ms;
	unsigned long long ttl_ms;
	bool accept_moves;
	const char *steer;  /* path of the steering program's object */
	const char *output; /* --output FILE */
	unsigned long long since;
	unsigned long long until_flows;
	unsigned long long limit;
	unsigned long long timeout_ms;	/* 0: not given */
	unsigned long long interval_ms; /* 0: not given */
	bool json;
	bool full;
	bool watch;
	bool follow;
	bool all;
	bool wait;
	bool once;
	bool apply;
	bool color;
	bool quiet;		   /* the terminal is drawn on: nothing is to be said */
	struct cli_client *client; /* opened by the first request */
};

struct cli_command {
	const char *group; /* "backend"; NULL: the verb stands alone */
	const char *verb;
	const char *words; /* "POOL/NAME WEIGHT", for the usage line */
	int min_words;
	int max_words;
	unsigned int options; /* enum cli_option */
	int (*run)(struct cli *cli, int count, char **words);
	const char *help;
};

extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

/* Parses options and words and runs the command; the exit status. */
int cli_main(int argc, char **argv);

/* Prints "guideway: " and the message to standard error. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "30s" into milliseconds, above 0. Returns an exit status, having said what is wrong. */
int cli_duration_parse(const char *option, const char *text, unsigned long long *value);

/* The table of options, for what is made from it. */
struct cli_option_text {
	const char *name;
	const char *argument; /* NULL: takes no value */
	char letter;	      /* 0: none */
	unsigned int flag;    /* enum cli_option; 0: any command takes it */
};

size_t cli_option_count(void);
struct cli_option_text cli_option_text(size_t index);

/* Help for everything, a group, or one command. */
void cli_help(const char *group, const char *verb);

/* client.c. Each returns an exit status, having said what is wrong; on CLI_DONE the caller owns
 * *out. A body given to cli_post is consumed. Paths take their arguments escaped (cli_escape). */
int cli_get(struct cli *cli, const char *path, json_t **out);
int cli_post(struct cli *cli, const char *path, json_t *body, json_t **out);
/* The same without a word on failure; *out then holds the error's object, or NULL. */
int cli_try(struct cli *cli, const char *path, json_t *body, json_t **out);
char *cli_escape(struct cli *cli, const char *text); /* free() it */
void cli_client_free(struct cli_client *client);

/* The line about the node's state, from its object. */
void node_print(const json_t *node);

/* Prints an answer as JSON, compact lines for streams. Both return CLI_DONE or CLI_FAILED. */
int cli_print_json(const json_t *value);
int cli_print_json_line(const json_t *value);

int cmd_status(struct cli *cli, int count, char **words);
int cmd_service_list(struct cli *cli, int count, char **words);
int cmd_service_show(struct cli *cli, int count, char **words);
int cmd_backend_list(struct cli *cli, int count, char **words);
int cmd_backend_explain(struct cli *cli, int count, char **words);
int cmd_backend_show(struct cli *cli, int count, char **words);
int cmd_backend_drain(struct cli *cli, int count, char **words);
int cmd_backend_enable(struct cli *cli, int count, char **words);
int cmd_backend_disable(struct cli *cli, int count, char **words);
int cmd_backend_weight(struct cli *cli, int count, char **words);
int cmd_override_list(struct cli *cli, int count, char **words);
int cmd_override_clear(struct cli *cli, int count, char **words);
int cmd_flow_show(struct cli *cli, int count, char **words);
int cmd_flow_list(struct cli *cli, int count, char **words);
int cmd_flow_count(struct cli *cli, int count, char **words);
int cmd_drops(struct cli *cli, int count, char **words);
int cmd_table_show(struct cli *cli, int count, char **words);
int cmd_table_stats(struct cli *cli, int count, char **words);
int cmd_lookup(struct cli *cli, int count, char **words);
int cmd_config_check(struct cli *cli, int count, char **words);
int cmd_config_diff(struct cli *cli, int count, char **words);
int cmd_config_rollback(struct cli *cli, int count, char **words);
int cmd_config_confirm(struct cli *cli, int count, char **words);
int cmd_table_history(struct cli *cli, int count, char **words);
int cmd_table_diff(struct cli *cli, int count, char **words);
int cmd_config_plan(struct cli *cli, int count, char **words);
int cmd_config_reload(struct cli *cli, int count, char **words);
int cmd_config_dump(struct cli *cli, int count, char **words);
int cmd_config_schema(struct cli *cli, int count, char **words);
int cmd_completion(struct cli *cli, int count, char **words);
int cmd_doctor(struct cli *cli, int count, char **words);
int cmd_setup(struct cli *cli, int count, char **words);
int cmd_top(struct cli *cli, int count, char **words);
int cmd_bundle(struct cli *cli, int count, char **words);
int cmd_events(struct cli *cli, int count, char **words);
int cmd_node_drain(struct cli *cli, int count, char **words);
int cmd_node_undrain(struct cli *cli, int count, char **words);
int cmd_dataplane_args(struct cli *cli, int count, char **words);
int cmd_version(struct cli *cli, int count, char **words);
