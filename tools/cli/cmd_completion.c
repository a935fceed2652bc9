/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The completion for bash, written from the tables of commands and options, so that it cannot know
 * less than they do. Names of backends, pools and services are asked of the daemon when needed.
 */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
	"# bash completion for guideway, made by `guideway completion`\n"
	"\n"
	"_guideway_names() {\n"
	"\tguideway \"$@\" --json 2>/dev/null |\n"
	"\t\tsed -nE 's/^ *\"(pool|name)\": \"([^\"]*)\",?$/\\1 \\2/p'\n"
	"}\n"
	"\n"
	"_guideway_backends() {\n"
	"\t_guideway_names backend list | while read -r key value; do\n"
	"\t\tif [ \"$key\" = pool ]; then pool=$value; else echo \"$pool/$value $value\"; fi\n"
	"\tdone\n"
	"}\n"
	"\n"
	"_guideway_pools() {\n"
	"\tguideway status --json 2>/dev/null | sed -nE 's/^ *\"pool\": \"([^\"]*)\",?$/\\1/p'\n"
	"}\n"
	"\n"
	"_guideway_services() {\n"
	"\t_guideway_names service list | sed -n 's/^name //p'\n"
	"}\n"
	"\n"
	"_guideway() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal words=() choices='' options='' command i\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tcase ${COMP_WORDS[i]} in\n";

static const char tail[] = "\tcase $cur in\n"
			   "\t-*) choices=\"$options --help\" ;;\n"
			   "\tesac\n"
			   "\tmapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
			   "}\n"
			   "\n"
			   "complete -F _guideway guideway\n";

/* Options whose value is a file of any kind, or anything else. */
static bool takes_file(const char *argument)
{
	return !strcmp(argument, "FILE") || !strcmp(argument, "PATH");
}

static void values_print(bool files)
{
	const char *between = "";

	for (size_t i = 0; i < cli_option_count(); i++) {
		struct cli_option_text option = cli_option_text(i);

		if (!option.argument || takes_file(option.argument) != files)
			continue;
		if (option.letter)
			printf("%s-%c | ", between, option.letter);
		printf("%s--%s", option.letter ? "" : between, option.name);
		between = " | ";
	}
}

static void options_print(unsigned int allowed)
{
	for (size_t i = 0; i < cli_option_count(); i++) {
		struct cli_option_text option = cli_option_text(i);

		if (option.flag & allowed)
			printf("--%s ", option.name);
	}
}

/* A group is named once, by its first row. */
static bool first_of_group(size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (cli_commands[i].group && !strcmp(cli_commands[i].group, cli_commands[at].group))
			return false;
	return true;
}

static void groups_print(const char *separator)
{
	const char *between = "";

	for (size_t i = 0; i < cli_command_count; i++)
		if (cli_commands[i].group && first_of_group(i)) {
			printf("%s%s", between, cli_commands[i].group);
			between = separator;
		}
}

static void verbs_print(const char *group)
{
	for (size_t i = 0; i < cli_command_count; i++) {
		const char *of = cli_commands[i].group;

		if (group ? of && !strcmp(of, group) : !of)
			printf("%s ", cli_commands[i].verb);
	}
}

static const char *source_of(const char *words)
{
	static const struct {
		const char *word;
		const char *source;
	} sources[] = {{"BACKEND", "$(_guideway_backends)"}, {"POOL", "$(_guideway_pools)"},
		{"NAME", "$(_guideway_services)"}, {"FILE", "$(compgen -f -- \"$cur\")"}};

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (strstr(words, sources[i].word))
			return sources[i].source;
	return "";
}

/* Only the first word behind the command has names to choose from. */
static void command_print(const struct cli_command *command)
{
	const char *group = command->group ? command->group : "";
	const char *source = source_of(command->words);

	printf("\t\"%s%s%s\")\n\t\toptions=\"", group, group[0] ? " " : "", command->verb);
	options_print(command->options);
	puts("\"");
	if (source[0])
		printf("\t\t((${#words[@]} > %d)) || choices=%s\n", command->group ? 2 : 1, source);
	puts("\t\t;;");
}

int cmd_completion(struct cli *cli, int count, char **words)
{
	fputs(head, stdout);
	putchar('\t');
	values_print(false);
	fputs(" | ", stdout);
	values_print(true);
	puts(")\n\t\t\t((i++)) ;;\n\t\t-*) ;;\n\t\t*) words+=(\"${COMP_WORDS[i]}\") ;;\n\t\tesac\n"
	     "\tdone\n\tcase $prev in");
	putchar('\t');
	values_print(true);
	puts(")\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n\t\treturn ;;");
	putchar('\t');
	values_print(false);
	puts(") return ;;\n\tesac\n\tcommand=${words[0]}");
	fputs("\tcase $command in\n\t", stdout);
	groups_print(" | ");
	puts(") command=\"${words[0]} ${words[1]}\" ;;\n\tesac\n\tcase $command in");
	fputs("\t\"\") choices=\"", stdout);
	verbs_print(NULL);
	groups_print(" ");
	puts("\" ;;");
	for (size_t i = 0; i < cli_command_count; i++)
		if (cli_commands[i].group && first_of_group(i)) {
			printf("\t\"%s \") choices=\"", cli_commands[i].group);
			verbs_print(cli_commands[i].group);
			puts("\" ;;");
		}
	for (size_t i = 0; i < cli_command_count; i++)
		command_print(&cli_commands[i]);
	puts("\tesac");
	fputs(tail, stdout);
	return CLI_DONE;
}
