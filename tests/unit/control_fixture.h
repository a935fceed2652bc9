/* SPDX-License-Identifier: BSD-2-Clause */
/* What the suites of control share: configurations from text, and builds from them. */
#pragma once

#include "control/builder.h"
#include "control/config.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURE_NODE                                                                               \
	"version: 1\n"                                                                             \
	"node: {name: lb1, source_ipv4: 10.82.0.11, source_ipv6: \"fd82::11\"}\n"                  \
	"dataplane: {path: xdp, interfaces: [{name: eth1}]}\n"

/* Three equal backends behind one IPv4 and one IPv6 address. */
#define FIXTURE_WEB                                                                                \
	FIXTURE_NODE                                                                               \
	"pools:\n"                                                                                 \
	"  - name: web\n"                                                                          \
	"    healthcheck: {type: tcp, port: 80}\n"                                                 \
	"    backends:\n"                                                                          \
	"      - {name: b1, address: 10.82.0.101}\n"                                               \
	"      - {name: b2, address: 10.82.0.102}\n"                                               \
	"      - {name: b3, address: 10.82.0.103}\n"                                               \
	"services:\n"                                                                              \
	"  - {name: web, addresses: [203.0.113.10, \"2001:db8:113::10\"], protocol: tcp,"          \
	" ports: [80], pool: web}\n"

/* The configuration, or a failed test that shows the errors. Free it with gw_config_free. */
static inline struct gw_config *fixture_config(const char *text)
{
	struct gw_config_errors errors = {0};
	struct gw_config *config = NULL;

	if (gw_config_load_string("test.yaml", text, strlen(text), 0, &config, &errors) < 0)
		gw_config_errors_print(&errors, stderr);
	gw_config_errors_free(&errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(config);
	return config;
}

/* The file as it stands, all healthy, without a daemon. */
static inline struct gw_build *fixture_build(const char *text)
{
	struct gw_config *config = fixture_config(text);
	char error[GW_BUILD_ERROR] = "";
	struct gw_build *build = NULL;

	if (gw_build_offline(config, NULL, 0, NULL, &build, error) < 0)
		fprintf(stderr, "%s\n", error);
	gw_config_free(config);
	CU_ASSERT_PTR_NOT_NULL_FATAL(build);
	return build;
}

/* What a section of the image begins with. */
static inline const void *fixture_section(
	const struct gw_build *build, const struct gw_section *section)
{
	return (const char *)build->snapshot->data + section->offset;
}

/* A folder of its own below /tmp; the caller frees the name. */
static inline char *fixture_folder(void)
{
	char *folder = strdup("/tmp/guideway-test-XXXXXX");

	CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	return folder;
}

/* Removes the folder and the plain files in it, and frees the name. */
static inline void fixture_folder_remove(char *folder)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r -- '%s'", folder);
	CU_ASSERT_EQUAL(system(command), 0);
	free(folder);
}
