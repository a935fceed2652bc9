/* SPDX-License-Identifier: BSD-2-Clause */
#include "top.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int top_sample_take(struct cli *cli, struct top_sample *sample)
{
	const struct {
		const char *path;
		json_t **to;
	} parts[] = {{"/v1/status", &sample->status}, {"/v1/services", &sample->services},
		{"/v1/backends", &sample->backends}, {"/v1/drops", &sample->drops},
		{"/v1/workers", &sample->workers}};
	struct timespec now;

	*sample = (struct top_sample){0};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int ret = cli_try(cli, parts[i].path, NULL, parts[i].to);

		if (!ret)
			continue;
		json_decref(*parts[i].to);
		*parts[i].to = NULL;
		/* Without a datapath there are no drops and no workers: the rest is shown. */
		if (!i)
			return ret;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->time = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	return CLI_DONE;
}

void top_sample_free(struct top_sample *sample)
{
	json_decref(sample->status);
	json_decref(sample->services);
	json_decref(sample->backends);
	json_decref(sample->drops);
	json_decref(sample->workers);
	*sample = (struct top_sample){0};
}

/* A counter's rise a second; what was set back meanwhile (a new dataplane) counts from 0. */
static double rate(const json_t *before, const json_t *now, const char *name, double seconds)
{
	double from = value_real(before, name), to = value_real(now, name);

	if (!before || seconds <= 0)
		return 0;
	return (to < from ? to : to - from) / seconds;
}

static void set_real(json_t *object, const char *name, double value)
{
	json_object_set_new(object, name, json_real(value));
}

static bool same(const json_t *a, const json_t *b, const char *name)
{
	return !strcmp(value_text(a, name), value_text(b, name));
}

/* Mostly at the same place; else anywhere. */
static const json_t *twin(const json_t *list, size_t index, const json_t *of)
{
	const json_t *one = json_array_get(list, index);
	size_t i;

	if (one && same(one, of, "name") && same(one, of, "pool"))
		return one;
	json_array_foreach (list, i, one)
		if (same(one, of, "name") && same(one, of, "pool"))
			return one;
	return NULL;
}

/* Each thing with its rates; all that the API said of it stays. */
static json_t *things_rates(const json_t *before, const json_t *now, double seconds)
{
	json_t *list = json_array();
	const json_t *one;
	size_t i;

	json_array_foreach (now, i, one) {
		const json_t *was = twin(before, i, one);
		json_t *copy = json_copy((json_t *)one);

		set_real(copy, "pps", rate(was, one, "packets", seconds));
		set_real(copy, "bps", rate(was, one, "bytes", seconds) * 8);
		json_array_append_new(list, copy);
	}
	return list;
}

/* What part of its pool's packets each backend got, beside the part that it should. */
static void shares_add(json_t *backends)
{
	json_t *sums = json_object(), *one;
	size_t i;

	json_array_foreach (backends, i, one) {
		const char *pool = value_text(one, "pool");

		set_real(sums, pool, value_real(sums, pool) + value_real(one, "pps"));
	}
	json_array_foreach (backends, i, one) {
		double sum = value_real(sums, value_text(one, "pool"));

		set_real(one, "got", sum > 0 ? value_real(one, "pps") / sum : 0);
	}
	json_decref(sums);
}

static int by_rate(const void *left, const void *right)
{
	double a = value_real(*(json_t *const *)left, "pps");
	double b = value_real(*(json_t *const *)right, "pps");

	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_flows(const void *left, const void *right)
{
	long long a = value_integer(*(json_t *const *)left, "active_flows");
	long long b = value_integer(*(json_t *const *)right, "active_flows");

	return a < b ? 1 : a > b ? -1 : by_rate(left, right);
}

static json_t *sorted(json_t *list, enum top_sort sort)
{
	size_t count = json_array_size(list), i;
	json_t **items = calloc(count + 1, sizeof(*items)), *result = json_array(), *one;

	if (sort == TOP_BY_NAME || !items || !result) {
		free(items);
		json_decref(result);
		return list;
	}
	json_array_foreach (list, i, one)
		items[i] = one;
	qsort(items, count, sizeof(*items), sort == TOP_BY_RATE ? by_rate : by_flows);
	for (i = 0; i < count; i++)
		json_array_append(result, items[i]);
	free(items);
	json_decref(list);
	return result;
}

static json_t *drops_rates(const json_t *before, const json_t *now, double seconds, double *all)
{
	const json_t *was = json_object_get(before, "drops");
	json_t *list = json_array(), *value;
	const char *name;

	*all = 0;
	json_object_foreach (json_object_get(now, "drops"), name, value) {
		double pps = rate(was, json_object_get(now, "drops"), name, seconds);

		*all += pps;
		if (json_integer_value(value))
			json_array_append_new(
				list, json_pack("{s:s, s:I, s:f}", "reason", name, "packets",
					      json_integer_value(value), "pps", pps));
	}
	return list;
}

static json_t *workers_rates(const json_t *before, const json_t *now, double seconds)
{
	const json_t *was = json_object_get(before, "workers"), *one;
	json_t *list = json_array();
	size_t i;

	json_array_foreach (json_object_get(now, "workers"), i, one) {
		const json_t *old = json_array_get(was, i);
		double total = rate(old, one, "total_cycles", seconds);
		double busy = rate(old, one, "busy_cycles", seconds);

		json_array_append_new(
			list, json_pack("{s:I, s:I, s:f, s:f, s:O}", "worker", (json_int_t)i, "cpu",
				      (json_int_t)value_integer(one, "cpu"), "pps",
				      rate(old, one, "rx", seconds), "busy",
				      total > 0 ? busy / total : 0.0, "asleep",
				      json_object_get(one, "asleep")));
	}
	return list;
}

static double bits(const json_t *services)
{
	const json_t *one;
	double sum = 0;
	size_t i;

	json_array_foreach (services, i, one)
		sum += value_real(one, "bps");
	return sum;
}

/* Packets a second that ask no flow table, out of those that leave. */
static double not_tracked(const json_t *services)
{
	const json_t *one;
	double sum = 0;
	size_t i;

	json_array_foreach (services, i, one)
		if (json_is_false(json_object_get(one, "track_flows")))
			sum += value_real(one, "pps");
	return sum;
}

json_t *top_rates(const struct top_sample *before, const struct top_sample *now, enum top_sort sort)
{
	double seconds = now->time - before->time, drops = 0;
	double out = rate(before->drops, now->drops, "tx", seconds);
	double fresh = rate(before->drops, now->drops, "flows_new", seconds) +
		       rate(before->drops, now->drops, "untracked", seconds);
	json_t *services = things_rates(before->services, now->services, seconds);
	json_t *backends = things_rates(before->backends, now->backends, seconds);
	json_t *reasons = drops_rates(before->drops, now->drops, seconds, &drops);
	json_t *rates = json_object();
	double asked = out - not_tracked(services);

	shares_add(backends);
	set_real(rates, "seconds", seconds);
	set_real(rates, "rx_pps", rate(before->drops, now->drops, "rx", seconds));
	set_real(rates, "tx_pps", out);
	set_real(rates, "bps", bits(services));
	set_real(rates, "drops_pps", drops);
	set_real(rates, "flows_new_pps", rate(before->drops, now->drops, "flows_new", seconds));
	if (asked > 0)
		set_real(rates, "hit_rate", fresh < asked ? 1 - fresh / asked : 0);
	json_object_set(rates, "status", now->status);
	json_object_set_new(rates, "services", sorted(services, sort));
	json_object_set_new(rates, "backends", sorted(backends, sort));
	json_object_set_new(rates, "drops", reasons);
	json_object_set_new(
		rates, "workers", workers_rates(before->workers, now->workers, seconds));
	return rates;
}
