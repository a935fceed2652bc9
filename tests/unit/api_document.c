/* SPDX-License-Identifier: BSD-2-Clause */
/* docs/openapi.json and docs/api.md against the API's table of routes, both ways. */
#include "control/api.h"
#include "suite.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *document;
static const struct gw_api_route *routes;
static size_t route_count;

static void document_load(void)
{
	json_error_t error;

	document = json_load_file(SOURCE_ROOT "/docs/openapi.json", JSON_REJECT_DUPLICATES, &error);
	if (!document)
		fprintf(stderr, "%s:%d: %s\n", error.source, error.line, error.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	routes = gw_api_routes(&route_count);
	CU_ASSERT_FATAL(route_count > 15);
}

/* The document's word on a route, NULL without one. */
static const json_t *operation_of(const struct gw_api_route *route)
{
	char method[8];
	size_t i;

	for (i = 0; route->method[i] && i < sizeof(method) - 1; i++)
		method[i] = (char)tolower(route->method[i]);
	method[i] = 0;
	return json_object_get(
		json_object_get(json_object_get(document, "paths"), route->path), method);
}

static bool route_is_there(const char *path, const char *method)
{
	for (size_t i = 0; i < route_count; i++)
		if (!strcmp(routes[i].path, path) && !strcasecmp(routes[i].method, method))
			return true;
	return false;
}

/* Whether the operation has a parameter of that name and place. */
static bool parameter_has(const json_t *operation, const char *place, const char *name)
{
	const json_t *parameter;
	size_t i;

	json_array_foreach (json_object_get(operation, "parameters"), i, parameter)
		if (!strcmp(json_string_value(json_object_get(parameter, "in")), place) &&
			!strcmp(json_string_value(json_object_get(parameter, "name")), name))
			return true;
	return false;
}

static size_t parameter_count(const json_t *operation, const char *place)
{
	const json_t *parameter;
	size_t i, count = 0;

	json_array_foreach (json_object_get(operation, "parameters"), i, parameter)
		count += !strcmp(json_string_value(json_object_get(parameter, "in")), place);
	return count;
}

static void every_route_is_documented(void)
{
	document_load();
	for (size_t i = 0; i < route_count; i++) {
		const json_t *operation = operation_of(&routes[i]);
		const char *scope =
			json_string_value(json_object_get(operation, "x-guideway-scope"));

		CU_ASSERT_PTR_NOT_NULL(operation);
		if (!operation)
			fprintf(stderr, "  %s %s is not in docs/openapi.json\n", routes[i].method,
				routes[i].path);
		CU_ASSERT_PTR_NOT_NULL(
			json_object_get(json_object_get(operation, "responses"), "200"));
		CU_ASSERT(scope && !strcmp(scope, gw_config_scope_name(routes[i].scope)));
		CU_ASSERT_EQUAL(
			json_object_get(operation, "requestBody") != NULL, routes[i].body_max > 0);
	}
	json_decref(document);
}

static void every_documented_path_is_a_route(void)
{
	const char *path, *method;
	json_t *item, *operation;
	size_t seen = 0;

	document_load();
	json_object_foreach (json_object_get(document, "paths"), path, item)
		json_object_foreach (item, method, operation) {
			CU_ASSERT(route_is_there(path, method));
			if (!route_is_there(path, method))
				fprintf(stderr, "  no route for %s %s\n", method, path);
			seen++;
		}
	CU_ASSERT_EQUAL(seen, route_count);
	json_decref(document);
}

static void the_document_has_each_routes_arguments_and_tags(void)
{
	document_load();
	for (size_t i = 0; i < route_count; i++) {
		const json_t *operation = operation_of(&routes[i]);
		char words[128], *rest = words, *word;
		size_t arguments = 0;

		snprintf(
			words, sizeof(words), "%s", routes[i].arguments ? routes[i].arguments : "");
		while ((word = strsep(&rest, " ")))
			if (word[0]) {
				CU_ASSERT(parameter_has(operation, "query", word));
				arguments++;
			}
		CU_ASSERT_EQUAL(parameter_count(operation, "query"), arguments);
		CU_ASSERT_EQUAL(parameter_has(operation, "header", "If-Match"),
			routes[i].etag && !strcmp(routes[i].method, "POST"));
		CU_ASSERT_EQUAL(
			json_object_get(json_object_get(json_object_get(json_object_get(operation,
										"responses"),
								"200"),
						"headers"),
				"ETag") != NULL,
			routes[i].etag != NULL);
	}
	json_decref(document);
}

static void the_page_has_every_route(void)
{
	FILE *file = fopen(SOURCE_ROOT "/docs/api.md", "r");
	static char page[65536];
	size_t length;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	length = fread(page, 1, sizeof(page) - 1, file);
	page[length] = 0;
	fclose(file);
	document_load();
	for (size_t i = 0; i < route_count; i++) {
		char wanted[128];

		snprintf(wanted, sizeof(wanted), "`%s %s", routes[i].method, routes[i].path);
		CU_ASSERT_PTR_NOT_NULL(strstr(page, wanted));
		if (!strstr(page, wanted))
			fprintf(stderr, "  %s is not in docs/api.md\n", wanted);
	}
	json_decref(document);
}

static const struct gw_test tests[] = {
	GW_TEST(every_route_is_documented),
	GW_TEST(every_documented_path_is_a_route),
	GW_TEST(the_document_has_each_routes_arguments_and_tags),
	GW_TEST(the_page_has_every_route),
};

GW_SUITE("api_document", tests)
