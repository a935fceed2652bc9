/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `doctor` and `setup`: what of this machine keeps the configured path from working well. Each look
 * is one JSON object: what was found, why it matters, and the commands that mend it, as words and
 * not as a shell's text, so that `setup --apply` runs exactly what `doctor` prints. Only what the
 * configured path needs is looked at.
 */
#pragma once

#include "control/model.h"

#include <jansson.h>

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOCTOR_INTERFACES 48

/* A kernel interface that packets for the services come in by. */
struct doctor_interface {
	char name[IF_NAMESIZE];
	const struct gw_config_interface *config;
};

struct doctor {
	const struct gw_config *config;
	const char *root; /* "", or a folder that stands for / in tests */
	json_t *looks;	  /* array */
	struct doctor_interface interfaces[DOCTOR_INTERFACES];
	size_t interface_count;
};

struct cli;

/* What `doctor --json` prints; an exit status. */
int doctor_report(struct cli *cli, json_t **out);

/* Looks at everything; the list is in doctor->looks. */
void doctor_look(struct doctor *doctor);

/* The parts of it. */
void doctor_look_links(struct doctor *doctor);	 /* doctor_links.c: up, routes, MTU */
void doctor_look_devices(struct doctor *doctor); /* doctor_devices.c: offloads, queues, mode */
void doctor_look_kernel(struct doctor *doctor); /* doctor_kernel.c: sysctls, JIT, bpf file system */
void doctor_look_machine(struct doctor *doctor); /* doctor_machine.c: pages, IOMMU, CPUs */

/* Results. All is well; it could not be seen from here; something is wrong. subject: an interface,
 * a port, or "". What is returned is borrowed: for fixes. */
void doctor_well(struct doctor *doctor, const char *check, const char *subject, const char *what,
	...) __attribute__((format(printf, 4, 5)));
void doctor_unseen(struct doctor *doctor, const char *check, const char *subject, const char *what,
	...) __attribute__((format(printf, 4, 5)));
json_t *doctor_finding(struct doctor *doctor, const char *check, const char *subject,
	const char *why, const char *what, ...) __attribute__((format(printf, 5, 6)));

/* Adds a command, its words up to NULL. */
void doctor_fix(json_t *finding, const char *word, ...) __attribute__((sentinel));
/* What can only be done by hand, and why no command is given, or that it needs a new start. */
void doctor_advise(json_t *finding, const char *text);
/* `sysctl -w NAME=VALUE`, the name with dots. */
void doctor_fix_sysctl(json_t *finding, const char *name, long long value);

/* Files below doctor->root; the path is a format. -errno, or 0 and the text without its newline. */
int doctor_read(const struct doctor *doctor, char *text, size_t size, const char *path, ...)
	__attribute__((format(printf, 4, 5)));
/* A whole number in a file; -1 when there is none to read. */
long long doctor_number(const struct doctor *doctor, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* "1-3,5" as Linux writes lists of CPUs. */
bool doctor_list_has(const char *list, unsigned int number);

/* doctor_ethtool.c: what drivers say, by ioctl. Each returns 0 or -errno. */
struct doctor_channels {
	unsigned int now; /* receive queues */
	unsigned int most;
	bool combined; /* with transmit queues; what `ethtool -L` calls them */
};

int doctor_feature(const char *interface, const char *feature, bool *on, bool *fixed);
int doctor_channels(const char *interface, struct doctor_channels *channels);
int doctor_driver(const char *interface, char driver[static 32]);

/* A command as a line for a shell; free() it. NULL without memory. */
char *doctor_command_text(const json_t *command);
