/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/decap.h"
#include "base/log.h"
#include "decap.h"

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <jansson.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct counter_text {
	const char *name;
	const char *text;
	bool drop;
} counter_texts[] = {
#define TEXT(id, name, drop, text) {#name, text, drop},
	GW_DECAP_COUNTERS(TEXT)
#undef TEXT
};

/* Sums each counter over the CPUs. */
static int counters_read(const struct decap_options *options, struct gw_decap_count *sums)
{
	int cpus = libbpf_num_possible_cpus(), fd = decap_pin_open(options, "counters");
	struct gw_decap_count *values = NULL;
	int ret = fd < 0 ? fd : 0;

	if (!ret)
		values = calloc(cpus, sizeof(*values));
	if (!ret && !values)
		ret = -ENOMEM;
	for (uint32_t i = 0; !ret && i < GW_DECAP_COUNT; i++) {
		if (bpf_map_lookup_elem(fd, &i, values))
			ret = -errno;
		sums[i] = (struct gw_decap_count){};
		for (int cpu = 0; !ret && cpu < cpus; cpu++) {
			sums[i].packets += values[cpu].packets;
			sums[i].bytes += values[cpu].bytes;
		}
	}
	free(values);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The prefixes as a JSON list of texts. */
static json_t *sources_json(const struct decap_options *options)
{
	struct gw_decap_source key, *from = NULL;
	int fd = decap_pin_open(options, "sources");
	json_t *list = json_array();

	while (fd >= 0 && !bpf_map_get_next_key(fd, from, &key)) {
		struct gw_prefix prefix = {.length = key.bits};
		char text[GW_PREFIX_TEXT];

		memcpy(prefix.address, key.address, sizeof(prefix.address));
		json_array_append_new(list, json_string(gw_prefix_format(&prefix, text)));
		from = &key;
	}
	if (fd >= 0)
		close(fd);
	return list;
}

static json_t *interface_json(const struct decap_options *options)
{
	struct gw_decap_count sums[GW_DECAP_COUNT];
	enum decap_hook hook = DECAP_HOOK_AUTO;
	json_t *packets, *drops;
	uint64_t bytes = 0;
	int ret = counters_read(options, sums);

	if (ret) {
		errno = -ret;
		return NULL;
	}
	decap_pin_hook(options, &hook);
	packets = json_object();
	drops = json_object();
	for (size_t i = 0; i < GW_DECAP_COUNT; i++) {
		json_object_set_new(counter_texts[i].drop ? drops : packets, counter_texts[i].name,
			json_integer((json_int_t)sums[i].packets));
		if (i <= GW_DECAP_DECAP_6IN6)
			bytes += sums[i].bytes;
	}
	return json_pack("{s:s, s:s, s:o, s:o, s:I, s:o}", "interface", options->interface, "hook",
		decap_hook_name(hook), "from", sources_json(options), "packets", packets, "bytes",
		(json_int_t)bytes, "drops", drops);
}

static void interface_print(const struct decap_options *options, json_t *shown)
{
	json_t *prefix;
	size_t n;

	printf("%s (%s), from", options->interface,
		json_string_value(json_object_get(shown, "hook")));
	json_array_foreach (json_object_get(shown, "from"), n, prefix)
		printf("%s %s", n ? "," : "", json_string_value(prefix));
	printf("\n");
	for (size_t i = 0; i < GW_DECAP_COUNT; i++) {
		const struct counter_text *counter = &counter_texts[i];
		json_t *set = json_object_get(shown, counter->drop ? "drops" : "packets");
		json_int_t value = json_integer_value(json_object_get(set, counter->name));

		printf("  %-5s %-15s %12" JSON_INTEGER_FORMAT "  %s\n", counter->drop ? "drop" : "",
			counter->name, value, counter->text);
	}
}

/* Appends or prints one interface; silent when it has no pins. */
static int interface_show(const struct decap_options *options, json_t *list)
{
	json_t *shown = interface_json(options);

	if (!shown)
		return -errno;
	if (!options->json)
		interface_print(options, shown);
	json_array_append_new(list, shown);
	return 0;
}

static void all_show(const struct decap_options *options, json_t *list)
{
	struct decap_options one = *options;
	DIR *dir = opendir(options->pin_dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		decap_name_swap(entry->d_name, ':', '.');
		one.interface = entry->d_name;
		interface_show(&one, list);
	}
	if (dir)
		closedir(dir);
}

int decap_show(const struct decap_options *options)
{
	json_t *list = json_array();
	int ret = 0;

	if (options->interface)
		ret = interface_show(options, list);
	else
		all_show(options, list);
	if (ret)
		gw_log_error("%s: cannot read counters in %s/%s: %s", options->interface,
			options->pin_dir, options->interface, strerror(-ret));
	else if (options->json && json_dumpf(list, stdout, JSON_INDENT(2)) == 0)
		printf("\n");
	else if (!options->json && !json_array_size(list))
		printf("no decapsulator is attached (pins are looked for in %s)\n",
			options->pin_dir);
	json_decref(list);
	return ret;
}
