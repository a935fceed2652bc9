/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct option_row {
	const char *name;
	int letter;	   /* above 255: the option has only its name */
	unsigned int flag; /* enum cli_option; 0: any command takes it */
	const char *argument;
	const char *help;
};

enum {
	LONG_UNTIL_FLOWS = 256,
	LONG_ONCE,
	LONG_APPLY,
	LONG_ACCEPT_MOVES,
	LONG_CONFIRM,
	LONG_TTL,
	LONG_AGAINST,
};

/* One list makes the parser's tables and the help. */
static const struct option_row rows[] = {
	{"json", 'j', CLI_JSON, NULL, "JSON instead of text"},
	{"socket", 's', CLI_SOCKET, "PATH",
		"guideway-control's socket (default: $GUIDEWAY_SOCKET or " CLI_SOCKET_DEFAULT ")"},
	{"config", 'c', CLI_CONFIG, "FILE", "work from this file, without a daemon"},
	{"full", 'F', CLI_FULL, NULL, "with every slot"},
	{"watch", 'w', CLI_WATCH, NULL, "once a second until interrupted"},
	{"follow", 'f', CLI_FOLLOW, NULL, "wait for what comes"},
	{"since", 'n', CLI_SINCE, "NUMBER", "from the event of this number on"},
	{"reason", 'r', CLI_REASON, "TEXT", "why, for `override list`"},
	{"all", 'a', CLI_ALL, NULL, "every backend; also what is well"},
	{"steer", 'x', CLI_STEER, "PATH", "the steering program for net_af_xdp ports"},
	{"wait", 'W', CLI_WAIT, NULL, "return when the backend's flows have ended"},
	{"until-flows", LONG_UNTIL_FLOWS, CLI_UNTIL_FLOWS, "NUMBER",
		"with --wait: until no more flows than this are left (0)"},
	{"timeout", 't', CLI_TIMEOUT, "DURATION", "wait no longer than this: 90s, 10m, 1h"},
	{"once", LONG_ONCE, CLI_ONCE, NULL, "one look as text, then end"},
	{"interval", 'i', CLI_INTERVAL, "DURATION", "time from one look to the next (1s)"},
	{"limit", 'l', CLI_LIMIT, "NUMBER", "at most this many"},
	{"output", 'o', CLI_OUTPUT, "FILE", "write there"},
	{"apply", LONG_APPLY, CLI_APPLY, NULL, "do it, instead of only showing it"},
	{"accept-moves", LONG_ACCEPT_MOVES, CLI_ACCEPT_MOVES, NULL,
		"take it although table_size, hash_seed or affinity changes"},
	{"confirm-within", LONG_CONFIRM, CLI_CONFIRM, "DURATION",
		"go back by itself unless `config confirm` comes within"},
	{"ttl", LONG_TTL, CLI_TTL, "DURATION", "only so long: 90s, 10m, 1h"},
	{"against", LONG_AGAINST, CLI_AGAINST, "FILE",
		"compare with this file instead of the daemon"},
	{"help", 'h', 0, NULL, "help for a command or for all"},
	{"version", 'V', 0, NULL, "the version"},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

size_t cli_option_count(void)
{
	return ROWS;
}

struct cli_option_text cli_option_text(size_t index)
{
	const struct option_row *row = &rows[index];

	return (struct cli_option_text){
		row->name, row->argument, row->letter < 256 ? (char)row->letter : 0, row->flag};
}

void cli_error(const char *format, ...)
{
	va_list arguments;

	fputs("guideway: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

static void usage_print(const struct cli_command *command)
{
	printf("guideway %s%s%s%s%s%s", command->group ? command->group : "",
		command->group ? " " : "", command->verb, command->words[0] ? " " : "",
		command->words, command->options ? " [OPTIONS]" : "");
}

static void options_print(unsigned int allowed)
{
	puts("\nOptions:");
	for (size_t i = 0; i < ROWS; i++) {
		char name[40];

		if (rows[i].flag && !(rows[i].flag & allowed))
			continue;
		if (rows[i].letter < 256)
			snprintf(name, sizeof(name), "-%c, ", rows[i].letter);
		else
			snprintf(name, sizeof(name), "    ");
		snprintf(name + 4, sizeof(name) - 4, "--%s%s%s", rows[i].name,
			rows[i].argument ? " " : "", rows[i].argument ? rows[i].argument : "");
		printf("  %-29s %s\n", name, rows[i].help);
	}
}

static void notes_print(void)
{
	puts("\nBACKEND is a name, or POOL/NAME where several pools have it. FLOW is\n"
	     "'PROTOCOL SOURCE:PORT DESTINATION:PORT', as in 'tcp 198.51.100.7:40000 "
	     "203.0.113.10:80';\nIPv6 addresses stand in brackets.");
	puts("\nExit status: 0 done, 1 failed, 2 wrong use, 3 daemon not reachable, 4 no such "
	     "thing,\n5 configuration invalid.");
}

void cli_help(const char *group, const char *verb)
{
	unsigned int allowed = 0;
	size_t matching = 0;

	for (size_t i = 0; i < cli_command_count; i++) {
		const struct cli_command *command = &cli_commands[i];

		if (group && (!command->group || strcmp(command->group, group)))
			continue;
		if (verb && (strcmp(command->verb, verb) || (!group && command->group)))
			continue;
		if (!matching++)
			puts(group || verb ? "Usage:" : "Usage: guideway COMMAND [OPTIONS]\n");
		fputs("  ", stdout);
		usage_print(command);
		printf("\n        %s\n", command->help);
		allowed |= command->options;
	}
	options_print(allowed);
	notes_print();
}

static void getopt_tables(struct option longs[static ROWS + 1], char shorts[static 2 * ROWS + 2])
{
	size_t used = 0;

	shorts[used++] = ':';
	for (size_t i = 0; i < ROWS; i++) {
		longs[i] = (struct option){rows[i].name,
			rows[i].argument ? required_argument : no_argument, NULL, rows[i].letter};
		if (rows[i].letter > 255)
			continue;
		shorts[used++] = (char)rows[i].letter;
		if (rows[i].argument)
			shorts[used++] = ':';
	}
	longs[ROWS] = (struct option){0};
	shorts[used] = 0;
}

static int number_parse(const char *option, const char *text, unsigned long long *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9') {
		cli_error("--%s takes a number, not \"%s\"", option, text);
		return CLI_USAGE;
	}
	return CLI_DONE;
}

int cli_duration_parse(const char *option, const char *text, unsigned long long *value)
{
	static const struct {
		const char *name;
		unsigned int ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!errno && text[0] >= '0' && text[0] <= '9' && !strcmp(end, units[i].name) &&
			number && !__builtin_mul_overflow(number, units[i].ms, value))
			return CLI_DONE;
	cli_error(
		"--%s takes a time with its unit (500ms, 30s, 10m, 1h), not \"%s\"", option, text);
	return CLI_USAGE;
}

/* The options that take a number or a time. */
static int number_take(struct cli *cli, int letter, const char *value)
{
	switch (letter) {
	case 'n':
		return number_parse("since", value, &cli->since);
	case 'l':
		return number_parse("limit", value, &cli->limit);
	case LONG_UNTIL_FLOWS:
		return number_parse("until-flows", value, &cli->until_flows);
	case LONG_CONFIRM:
		return cli_duration_parse("confirm-within", value, &cli->confirm_ms);
	case LONG_TTL:
		return cli_duration_parse("ttl", value, &cli->ttl_ms);
	case 't':
		return cli_duration_parse("timeout", value, &cli->timeout_ms);
	case 'i':
		return cli_duration_parse("interval", value, &cli->interval_ms);
	}
	return CLI_DONE;
}

static int option_take(struct cli *cli, int letter, const char *value)
{
	switch (letter) {
	case 'j':
		cli->json = true;
		break;
	case 's':
		cli->socket = value;
		break;
	case 'c':
		cli->config = value;
		break;
	case 'F':
		cli->full = true;
		break;
	case 'w':
		cli->watch = true;
		break;
	case 'f':
		cli->follow = true;
		break;
	case 'W':
		cli->wait = true;
		break;
	case LONG_ONCE:
		cli->once = true;
		break;
	case LONG_ACCEPT_MOVES:
		cli->accept_moves = true;
		break;
	case LONG_AGAINST:
		cli->against = value;
		break;
	case LONG_APPLY:
		cli->apply = true;
		break;
	case 'o':
		cli->output = value;
		break;
	case 'r':
		cli->reason = value;
		break;
	case 'a':
		cli->all = true;
		break;
	case 'x':
		cli->steer = value;
		break;
	default:
		return number_take(cli, letter, value);
	}
	return CLI_DONE;
}

struct parsed {
	unsigned int used; /* enum cli_option */
	bool help;
	bool version;
};

static const struct option_row *row_find(int letter)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].letter == letter)
			return &rows[i];
	return NULL;
}

/* Leaves the words in argv from optind on. */
static int options_parse(struct cli *cli, struct parsed *parsed, int argc, char **argv)
{
	struct option longs[ROWS + 1];
	char shorts[2 * ROWS + 2];
	int letter, ret = CLI_DONE;

	getopt_tables(longs, shorts);
	opterr = 0;
	optind = 0; /* starts anew, also where it has run before (tests) */
	while (!ret && (letter = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row = row_find(letter);

		if (letter == ':') {
			row = row_find(optopt);
			cli_error(
				"%s needs a value: %s", argv[optind - 1], row ? row->argument : "");
			return CLI_USAGE;
		}
		if (!row) {
			cli_error("no such option: \"%s\"; see guideway --help", argv[optind - 1]);
			return CLI_USAGE;
		}
		parsed->used |= row->flag;
		parsed->help |= letter == 'h';
		parsed->version |= letter == 'V';
		ret = option_take(cli, row->letter, optarg);
	}
	return ret;
}

/* NULL, having said what is wrong. *taken: how many words name the command. */
static const struct cli_command *command_find(int count, char **words, int *taken)
{
	bool group = false;

	for (size_t i = 0; i < cli_command_count; i++) {
		const struct cli_command *command = &cli_commands[i];

		if (!command->group && !strcmp(command->verb, words[0])) {
			*taken = 1;
			return command;
		}
		if (!command->group || strcmp(command->group, words[0]))
			continue;
		group = true;
		if (count > 1 && !strcmp(command->verb, words[1])) {
			*taken = 2;
			return command;
		}
	}
	if (!group)
		cli_error("no such command: \"%s\"; see guideway --help", words[0]);
	else if (count > 1)
		cli_error("no such command: \"%s %s\"; see guideway %s --help", words[0], words[1],
			words[0]);
	else
		cli_error("%s what? See guideway %s --help", words[0], words[0]);
	return NULL;
}

static int options_check(const struct cli_command *command, unsigned int used)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].flag & used & ~command->options) {
			cli_error("%s%s%s takes no --%s; see its --help",
				command->group ? command->group : "", command->group ? " " : "",
				command->verb, rows[i].name);
			return CLI_USAGE;
		}
	return CLI_DONE;
}

static int words_check(const struct cli_command *command, int count, char **words)
{
	const char *group = command->group ? command->group : "";

	if (count < command->min_words)
		cli_error("usage: guideway %s%s%s %s", group, group[0] ? " " : "", command->verb,
			command->words);
	else if (count > command->max_words)
		cli_error("%s%s%s: too many words, from \"%s\" on; see its --help", group,
			group[0] ? " " : "", command->verb, words[command->max_words]);
	else
		return CLI_DONE;
	return CLI_USAGE;
}

static bool colors_wanted(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) &&
	       !(terminal && !strcmp(terminal, "dumb"));
}

static int help_run(int count, char **words)
{
	int taken;

	if (count && !strcmp(words[0], "help")) {
		words++;
		count--;
	}
	for (size_t i = 0; count == 1 && i < cli_command_count; i++)
		if (cli_commands[i].group && !strcmp(cli_commands[i].group, words[0])) {
			cli_help(words[0], NULL);
			return CLI_DONE;
		}
	if (count && !command_find(count, words, &taken))
		return CLI_USAGE;
	if (!count)
		cli_help(NULL, NULL);
	else
		cli_help(taken == 2 ? words[0] : NULL, words[taken - 1]);
	return CLI_DONE;
}

int cli_main(int argc, char **argv)
{
	const char *environment = getenv("GUIDEWAY_SOCKET");
	struct cli cli = {.color = colors_wanted(),
		.socket = environment && environment[0] ? environment : CLI_SOCKET_DEFAULT};
	const struct cli_command *command;
	struct parsed parsed = {0};
	int taken, count, ret;

	ret = options_parse(&cli, &parsed, argc, argv);
	if (ret)
		return ret;
	count = argc - optind;
	if (parsed.help || (count && !strcmp(argv[optind], "help")))
		return help_run(count, argv + optind);
	if (parsed.version)
		return cmd_version(&cli, 0, NULL);
	if (!count) {
		cli_error("which command? See guideway --help");
		return CLI_USAGE;
	}
	command = command_find(count, argv + optind, &taken);
	if (!command)
		return CLI_USAGE;
	ret = options_check(command, parsed.used);
	if (!ret)
		ret = words_check(command, count - taken, argv + optind + taken);
	if (!ret)
		ret = command->run(&cli, count - taken, argv + optind + taken);
	cli_client_free(cli.client);
	return ret;
}
