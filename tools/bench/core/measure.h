/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a case becomes a figure: warm up until every flow has been seen, then the bound and the
 * balancer in turn, and the medians of the rounds. A sample that lost or mangled a packet, or whose
 * counters disagree, makes the whole figure void: measure_case then says why and gives none.
 */
#pragma once

#include "bench.h"

#include <jansson.h>

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum outcome {
	OUTCOME_FIGURE,
	OUTCOME_REFUSED,     /* measured, and not to be trusted */
	OUTCOME_UNSUPPORTED, /* the path cannot have such a case */
	OUTCOME_FAILED,	     /* it could not be set up or run */
};

struct spread {
	double median, min, max;
};

struct measure_round {
	double ns, bound_ns; /* of wall time a packet */
	double io_ns;
	double cycles, bound_cycles;
	double latency_ns[3];
	double latency_max_ns;
};

struct measurement {
	const struct bench_case *what;
	const struct bench_runner *runner; /* NULL: none is compiled in */
	enum outcome outcome;
	char why[BENCH_MESSAGE]; /* unless a figure */
	struct measure_round *rounds;
	size_t round_count;
	struct spread ns, bound_ns, cycles; /* cycles 0: not known */
	struct spread io_ns;		    /* 0: not known */
	uint64_t flows_new;	 /* packets of the balancer that opened a flow, all rounds */
	uint64_t untracked;	 /* packets of the balancer, all rounds */
	size_t swap_pairs;	 /* slices with and without swaps (pairs.h); 0: not measured so */
	struct spread swap_cost; /* share by which they make a packet dearer; bounds of 95 % */
	struct spread latency_ns[3];
	double latency_max_ns;
	bool has_latency;
	uint64_t late, never_sent;	  /* by the schedule; of the balancer, all rounds */
	uint64_t packets, sampled, swaps; /* of the balancer, all rounds */
	uint64_t offered;		  /* to it, also in the sample that was refused */
	bool unasked;  /* the balancer is another's: no counters, no bound, and no known path */
	uint64_t lost; /* in the sample that was refused */
	double steal_share;  /* of the measured core's time */
	uint64_t preempted;  /* involuntary context switches while it was measured */
	double sibling_busy; /* of its sibling thread's time; 0: none */
	uint32_t samples;    /* of mode cpu, that the figure is made of */
	uint32_t slowed;     /* of them, taken while the core was slowed from outside (steady.h) */
	bool synthetic;	     /* no network card */
	json_t *described;   /* what the runner says of itself; may be NULL */
	json_t *found;	     /* … and of this run */
};

struct measure_options {
	struct bench_machine machine;
	double seconds;
	uint32_t rounds;
	uint32_t steady;	 /* a slowed sample is taken again so often, in mode cpu */
	bool (*slowed)(int cpu); /* NULL: steady_slowed */
	const cpu_set_t *cpus; /* of the process, before EAL pinned its first thread; may be NULL */
	double tsc_hz;	       /* 0: not known */
	const volatile sig_atomic_t *stop; /* becomes other than 0: end soon; may be NULL */
	/* What it is doing, for a terminal; may be NULL. */
	void (*progress)(void *owner, const char *step, uint32_t done, uint32_t of);
	void *owner;
};

/* Never fails: what went wrong is the outcome. Free with measurement_free. */
void measure_case(const struct measure_options *options, const struct bench_runner *runner,
	const struct bench_case *what, struct measurement *measurement);
void measurement_free(struct measurement *measurement);

/* May this sample count? If not, why not. */
bool sample_judge(const struct bench_case *what, enum bench_subject subject,
	const struct bench_sample *sample, char why[static BENCH_MESSAGE]);
/* Of `count` values, at least one; they are sorted. */
struct spread spread_of(double *values, size_t count);

static inline double measurement_mpps(double ns)
{
	return ns > 0 ? 1e3 / ns : 0;
}
