/* SPDX-License-Identifier: BSD-2-Clause */
#include "start.h"

#include "dataplane/pipeline.h"

#include <rte_eal.h>
#include <rte_errno.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX     64
#define MEGABYTES     "512" /* without huge pages: frames and look-up tables; flows lie elsewhere */
#define USERS_NO_HUGE "--no-huge"

/* EAL changes the order of its words and keeps pointers into them: they stay. */
static char *words[WORDS_MAX + 1];
static int word_count;

static void add_word(char *word)
{
	if (word_count < WORDS_MAX)
		words[word_count] = word;
	word_count++;
}

/* What this process could use before EAL pinned its main thread. */
static const cpu_set_t *allowed_cpus(void)
{
	static cpu_set_t allowed;

	if (!CPU_COUNT(&allowed))
		sched_getaffinity(0, sizeof(allowed), &allowed);
	return &allowed;
}

int dpdk_cpu(const struct bench_machine *machine, uint32_t worker)
{
	const cpu_set_t *allowed = allowed_cpus();

	if (worker >= (uint32_t)CPU_COUNT(allowed) || !CPU_ISSET((size_t)machine->cpu, allowed))
		return -1;
	for (int cpu = machine->cpu;; cpu = (cpu + 1) % CPU_SETSIZE)
		if (CPU_ISSET((size_t)cpu, allowed) && !worker--)
			return cpu;
}

/* "0@(0,2),1@1,2@2,3@0": main on all but the measured CPU, which it gets only if there is no other.
 */
static char *write_lcores(const struct bench_machine *machine)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int others = 0;

	if (!out)
		return NULL;
	fputs("0@(", out);
	for (uint32_t i = 1; i < CPU_SETSIZE && dpdk_cpu(machine, i) >= 0; i++)
		fprintf(out, "%s%d", others++ ? "," : "", dpdk_cpu(machine, i));
	if (!others)
		fprintf(out, "%d", machine->cpu);
	fputc(')', out);
	for (uint32_t i = 0; i < GW_WORKERS_MAX && dpdk_cpu(machine, i) >= 0; i++)
		fprintf(out, ",%u@%d", dpdk_lcore(i), dpdk_cpu(machine, i));
	fclose(out);
	return text;
}

static void add_memory(const struct bench_machine *machine)
{
	static char no_huge[] = USERS_NO_HUGE, no_files[] = "--no-shconf",
		    in_memory[] = "--in-memory", size[] = "-m", megabytes[] = MEGABYTES;

	/* EAL 22.11 refuses --in-memory beside --no-huge; what is left of the wish is no files. */
	if (strstr(machine->eal_args, USERS_NO_HUGE)) {
		add_word(no_files);
	} else if (machine->huge_pages) {
		add_word(in_memory);
	} else {
		add_word(no_huge);
		add_word(no_files);
		add_word(size);
		add_word(megabytes);
	}
}

/* Last, so that they overrule. */
static int add_users(const char *text)
{
	char *copy = strdup(text), *rest = NULL;

	if (!copy)
		return -ENOMEM;
	for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		add_word(word);
	return 0;
}

/* EAL tells its usage on standard output, where the table or the JSON goes. */
static int eal_init(void)
{
	int out, status;

	fflush(stdout);
	out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (out >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	status = rte_eal_init(word_count, words);
	if (out >= 0) {
		fflush(stdout);
		dup2(out, STDOUT_FILENO);
		close(out);
	}
	return status;
}

static int start(const struct bench_machine *machine, char message[BENCH_MESSAGE])
{
	static char program[] = "guideway-bench", lcores_option[] = "--lcores",
		    main_option[] = "--main-lcore=0", no_pci[] = "--no-pci",
		    no_telemetry[] = "--no-telemetry", quiet[] = "--log-level=error";
	char *lcores = write_lcores(machine);

	if (!lcores)
		return -ENOMEM;
	add_word(program);
	add_word(lcores_option);
	add_word(lcores);
	add_word(main_option);
	add_word(no_pci);
	add_word(no_telemetry);
	add_word(quiet);
	add_memory(machine);
	if (add_users(machine->eal_args))
		return -ENOMEM;
	if (word_count > WORDS_MAX) {
		snprintf(message, BENCH_MESSAGE, "too many EAL options: at most %d words",
			WORDS_MAX);
		return -E2BIG;
	}
	if (eal_init() < 0) {
		snprintf(message, BENCH_MESSAGE,
			"DPDK does not start: %s (its own messages above say more)",
			rte_strerror(rte_errno));
		return -EIO;
	}
	return 0;
}

int dpdk_start(const struct bench_machine *machine, char message[BENCH_MESSAGE])
{
	static bool tried;
	static int status;

	if (tried) {
		if (status)
			snprintf(message, BENCH_MESSAGE, "DPDK did not start before");
		return status;
	}
	tried = true;
	status = start(machine, message);
	return status;
}
