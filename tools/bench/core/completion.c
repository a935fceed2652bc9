/* SPDX-License-Identifier: BSD-2-Clause */
/* The completion for bash, written from the tables of axes, options and sweeps, so that it cannot
 * know less than they do. Numbers, ports and CPUs it leaves to whoever types. */
#include "options.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
	"# bash completion for guideway-bench, made by `guideway-bench --completion`\n"
	"\n"
	"# The last of a list's values, behind those that stand there already.\n"
	"_guideway_bench_list() {\n"
	"\tlocal before=''\n"
	"\tcase $2 in\n"
	"\t*,*) before=${2%,*}, ;;\n"
	"\tesac\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${2##*,}\")\n"
	"}\n"
	"\n"
	"_guideway_bench() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then return; fi\n"
	"\tdone\n"
	"\tif [ \"$cur\" = = ]; then\n"
	"\t\tcur=''\n"
	"\telif [ \"$prev\" = = ]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tcase $prev in\n";

static const char tail[] = "\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
			   "}\n"
			   "\n"
			   "complete -F _guideway_bench guideway-bench\n";

#define FILES "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")"

static bool takes_file(const struct option *option)
{
	return !strcmp(option->name, "json") || !strcmp(option->name, "svg") ||
	       !strcmp(option->name, "from");
}

static void list_begin(const char *option)
{
	printf("\t--%s)\n\t\t_guideway_bench_list '", option);
}

static void list_end(void)
{
	puts("' \"$cur\"\n\t\treturn\n\t\t;;");
}

/* Words, and the sizes that RFC 2544 names. */
static void values_print(enum axis_id id)
{
	const struct axis *axis = &axes[id];

	list_begin(axis->option);
	if (id == AXIS_PATH)
		fputs("both ", stdout);
	if (axis->kind == AXIS_FRAME)
		fputs("64 128 256 512 1024 1518 imix", stdout);
	for (size_t i = 0; axis->words && axis->words[i]; i++)
		printf("%s%s", i ? " " : "", axis->words[i]);
	list_end();
}

static void sweeps_print(void)
{
	list_begin("sweep");
	fputs("all", stdout);
	for (size_t i = 0; i < sweep_count; i++)
		printf(" %s", sweeps[i].name);
	list_end();
}

/* The next option may stand where a file need not. */
static void file_print(const struct option *option)
{
	bool optional = option->has_arg == optional_argument;

	printf("\t--%s)\n", option->name);
	if (optional)
		puts("\t\tif [ \"${cur:0:1}\" != - ]; then");
	puts("\t\t" FILES "\n\t\treturn");
	if (optional)
		puts("\t\tfi");
	puts("\t\t;;");
}

static bool axis_has_words(enum axis_id id)
{
	return axes[id].kind == AXIS_WORD || axes[id].kind == AXIS_FRAME;
}

void completion_print(const struct option *options, size_t count)
{
	fputs(head, stdout);
	for (int id = 0; id < AXIS_IDS; id++) {
		if (axis_has_words(id))
			values_print(id);
		else
			printf("\t--%s) return ;;\n", axes[id].option);
	}
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(options[i].name, "sweep"))
			sweeps_print();
		else if (takes_file(&options[i]))
			file_print(&options[i]);
		else if (options[i].has_arg == required_argument)
			printf("\t--%s) return ;;\n", options[i].name);
	}
	fputs("\tesac\n\tlocal options='", stdout);
	for (int id = 0; id < AXIS_IDS; id++)
		printf("--%s ", axes[id].option);
	for (size_t i = 0; i < count; i++)
		printf("--%s%s", options[i].name, i + 1 < count ? " " : "'\n");
	fputs(tail, stdout);
}
