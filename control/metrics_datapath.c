/* SPDX-License-Identifier: BSD-2-Clause */
#include "metrics_families.h"

#include <stddef.h>
#include <stdio.h>

static void verdicts_write(struct metrics_text *text, const struct gw_counters *counters)
{
	static const struct {
		const char *name;
		const char *help;
		size_t offset;
	} families[] = {
		{"guideway_rx_packets_total",
			"Packets received: those sent, replied to, left to the host, consumed, "
			"held "
			"and dropped.",
			offsetof(struct gw_counters, rx)},
		{"guideway_tx_packets_total", "Packets handed over towards a backend.",
			offsetof(struct gw_counters, tx)},
		{"guideway_to_host_packets_total", "Packets left to the host's own stack.",
			offsetof(struct gw_counters, to_host)},
		{"guideway_replied_packets_total", "Packets that the balancer answered itself.",
			offsetof(struct gw_counters, replied)},
		{"guideway_consumed_packets_total", "Packets for the balancer that ended in it.",
			offsetof(struct gw_counters, consumed)},
		{"guideway_untracked_packets_total",
			"Packets forwarded by the table for want of room in the flow table.",
			offsetof(struct gw_counters, untracked)},
		{"guideway_tx_full_packets_total",
			"Packets handed over, then refused by the NIC's queue.",
			offsetof(struct gw_counters, tx_full)},
		{"guideway_xmit_failed_packets_total",
			"Packets handed over, then refused by the kernel.",
			offsetof(struct gw_counters, xmit_failed)},
		{"guideway_flows_new_total", "Flow entries inserted.",
			offsetof(struct gw_counters, flows_new)},
		{"guideway_flows_moved_total",
			"Tracked flows that left a backend that may not keep them.",
			offsetof(struct gw_counters, flows_moved)},
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		metrics_one_count(text, families[i].name, METRICS_COUNTER, families[i].help,
			*(const uint64_t *)((const char *)counters + families[i].offset));
	metrics_one_count(text, "guideway_held_packets", METRICS_GAUGE,
		"Packets kept for now, such as fragments before their first.", counters->held);
}

static void drops_write(struct metrics_text *text, const struct gw_counters *counters)
{
	static const char *const names[GW_DROP_COUNT] = {
#define DROP_NAME(NAME, name, text) name,
		GW_DROP_REASONS(DROP_NAME)
#undef DROP_NAME
	};

	metrics_family(text, "guideway_dropped_packets_total", METRICS_COUNTER,
		"Packets dropped, by reason (guideway-drops(7)).");
	for (size_t i = 0; i < GW_DROP_COUNT; i++) {
		metrics_sample(text, &(struct metrics_label){"reason", names[i]}, 1);
		metrics_count(text, counters->drops[i]);
	}
}

static void workers_write(struct metrics_text *text, const struct gw_publisher_stats *stats)
{
	static const struct {
		const char *name;
		enum metrics_type type;
		const char *help;
	} families[] = {
		{"guideway_worker_busy_cycles_total", METRICS_COUNTER,
			"CPU cycles that the worker spent on packets; divided by "
			"guideway_worker_cycles_total its busy ratio."},
		{"guideway_worker_cycles_total", METRICS_COUNTER,
			"CPU cycles that passed for the worker, busy, polling or asleep."},
		{"guideway_worker_rx_packets_total", METRICS_COUNTER,
			"Packets that the worker received."},
		{"guideway_worker_asleep", METRICS_GAUGE,
			"Whether the worker waits for an interrupt just now."},
	};

	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]) && stats->worker_count; f++) {
		metrics_family(text, families[f].name, families[f].type, families[f].help);
		for (size_t i = 0; i < stats->worker_count; i++) {
			const struct gw_worker_stats *worker = &stats->workers[i];
			const uint64_t values[] = {worker->busy_cycles, worker->total_cycles,
				worker->counters.rx, worker->asleep};
			char number[24], cpu[16];
			const struct metrics_label labels[] = {{"worker", number}, {"cpu", cpu}};

			snprintf(number, sizeof(number), "%zu", i);
			snprintf(cpu, sizeof(cpu), "%u", worker->cpu);
			metrics_sample(text, labels, 2);
			metrics_count(text, values[f]);
		}
	}
}

static void ports_write(struct metrics_text *text, const struct gw_publisher_stats *stats)
{
	static const struct {
		const char *name;
		const char *help;
		size_t offset;
	} families[] = {
		{"guideway_port_rx_missed_total",
			"Packets that the NIC dropped for want of a free descriptor.",
			offsetof(struct gw_port_stats, rx_missed)},
		{"guideway_port_rx_dropped_total",
			"Packets that were dropped between NIC and datapath: no buffer, or the "
			"kernel "
			"was overrun.",
			offsetof(struct gw_port_stats, rx_dropped)},
		{"guideway_port_rx_errors_total", "Packets received with an error.",
			offsetof(struct gw_port_stats, rx_errors)},
		{"guideway_port_tx_errors_total", "Packets that could not be sent.",
			offsetof(struct gw_port_stats, tx_errors)},
	};

	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]) && stats->port_count; f++) {
		metrics_family(text, families[f].name, METRICS_COUNTER, families[f].help);
		for (size_t i = 0; i < stats->port_count; i++) {
			const struct gw_port_stats *port = &stats->ports[i];

			metrics_sample(text, &(struct metrics_label){"port", port->name}, 1);
			metrics_count(
				text, *(const uint64_t *)((const char *)port + families[f].offset));
		}
	}
}

void metrics_datapath(struct metrics_text *text, const struct gw_daemon *daemon,
	const struct gw_publisher_stats *stats)
{
	verdicts_write(text, &stats->counters);
	drops_write(text, &stats->counters);
	metrics_one_count(text, "guideway_flows_active", METRICS_GAUGE,
		"Entries of the flow table in use, as of the last sweep.", stats->flows_active);
	metrics_one_count(text, "guideway_flows_capacity", METRICS_GAUGE,
		"Entries that the flow table has room for.", stats->flow_capacity);
	workers_write(text, stats);
	ports_write(text, stats);
}
