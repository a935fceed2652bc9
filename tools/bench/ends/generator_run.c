/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop. Frames that the port did not take wait, and go first the next time. Time is the TSC's:
 * a frame's is read just before the burst that it is sent in, and just after the one that it is
 * received in.
 *
 * A paced trial sends what is due by the clock, at most a burst at a time; latencies count from
 * when a frame was due (pace.h). With a window all that was held up goes in the end, as the window
 * lets it; what has not gone CATCH_UP_MS after the trial's end is given up. Without one, a
 * generator that was held up (its core was taken away) catches up a millisecond's worth and gives
 * up the rest: a burst as long as the pause would test the rings, not the subject.
 */
#include "generator.h"
#include "pace.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include <time.h>

#define TCP_SYN	     0x02
#define TCP_ACK	     0x10
#define PRIME_WINDOW 256
#define FILL_FIRST   (BENCH_FLOWS / 2) /* flows that only fill the table, from here on */

/* Of the numbers, one in so many is stamped, and of those one in CHECK_SHARE compared. */
#define STAMP_FULL  64
#define STAMP_PACED 16
#define CHECK_SHARE 4

#define STALL_MS    500	 /* without a frame back: those on their way are given up */
#define DRAIN_MS    500	 /* … at the end of a trial */
#define ANSWER_MS   200	 /* … when a single frame is waited for */
#define CATCH_UP_MS 1000 /* for a schedule that is behind at the end of a trial */

struct run {
	struct generator *generator;
	enum bench_subject subject;
	struct bench_trial trial;
	struct bench_generated seen;
	struct bench_pace pace; /* rate 0: by the window alone */
	uint32_t first;		/* number of the trial's first frame */
	uint32_t shift;		/* of what comes back */
	uint32_t stamp_mask;	/* numbers with these bits clear are stamped */
	uint32_t stamp_bits;
	uint32_t check_mask;
	uint8_t flags;	    /* of all frames; 0: their own */
	uint64_t fill_flow; /* the next of the flows that fill the table; 0: the case's are sent */
	uint16_t queue;
	uint64_t end; /* of a trial: nothing is due after it */
	uint64_t start, last_sent, last_received, hz;
	uint64_t given_up;	/* on their way, but not waited for */
	uint32_t pending_first; /* number of pending[0] */
	uint16_t pending_count;
	struct rte_mbuf *pending[GENERATOR_BURST];
};

static uint64_t ticks(const struct run *run, uint32_t ms)
{
	return run->hz / 1000 * ms;
}

/* With the time from which its latency counts. */
static void stamp(struct run *run, uint32_t number, uint64_t since)
{
	struct generator_stamp *stamp =
		&run->generator->stamp[(number >> run->stamp_bits) % GENERATOR_STAMPS];

	stamp->number = number;
	stamp->tsc = since;
}

/* Fills up what waits to `count` frames. */
static void prepare(struct run *run, uint16_t count)
{
	struct generator *generator = run->generator;
	uint16_t have = run->pending_count;

	if (count <= have || rte_pktmbuf_alloc_bulk(
				     generator->send_pool, run->pending + have, count - have) != 0)
		return;
	if (!have)
		run->pending_first = generator->number;
	for (uint16_t i = have; i < count; i++) {
		struct rte_mbuf *mbuf = run->pending[i];
		uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
		uint32_t length = run->fill_flow
					  ? generator_frame_of(generator, frame, run->fill_flow++,
						    i, run->flags)
					  : generator_frame_next(generator, frame, run->flags);

		generator_number_put(generator, frame, generator->number++);
		mbuf->data_len = (uint16_t)length;
		mbuf->pkt_len = length;
	}
	run->pending_count = count;
}

/* Sends `count` frames, or as many as the port takes. */
static void send_frames(struct run *run, uint16_t count)
{
	uint64_t now;
	uint16_t sent;

	prepare(run, count);
	now = rte_rdtsc();
	for (uint16_t i = 0; i < run->pending_count; i++)
		if (!((run->pending_first + i) & run->stamp_mask))
			stamp(run, run->pending_first + i,
				run->pace.rate ? bench_pace_time(&run->pace, i, now) : now);
	sent = rte_eth_tx_burst(
		run->generator->ethdev, run->queue, run->pending, run->pending_count);
	if (++run->queue >= run->generator->queues)
		run->queue = 0;
	if (!sent)
		return;
	if (run->pace.rate)
		bench_pace_sent(&run->pace, sent, now);
	run->seen.sent += sent;
	run->last_sent = now;
	run->pending_first += sent;
	run->pending_count -= sent;
	if (run->pending_count)
		memmove(run->pending, run->pending + sent,
			run->pending_count * sizeof(run->pending[0]));
}

static void drop_pending(struct run *run)
{
	if (run->pending_count)
		rte_pktmbuf_free_bulk(run->pending, run->pending_count);
	run->pending_count = 0;
}

/* A stamped frame that came back: its latency, and now and then all its bytes. */
static void sample(struct run *run, uint32_t number, const struct rte_mbuf *mbuf, uint64_t now)
{
	struct generator *generator = run->generator;
	struct generator_stamp *stamp =
		&generator->stamp[(number >> run->stamp_bits) % GENERATOR_STAMPS];

	if (stamp->tsc && stamp->number == number) {
		bench_latency_add(&generator->latency, now - stamp->tsc);
		stamp->tsc = 0;
	}
	if (number & run->check_mask)
		return;
	run->seen.sampled++;
	if (mbuf->nb_segs != 1 || !generator_frame_right(generator, run->subject,
					  rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->pkt_len))
		run->seen.wrong++;
}

static void look_at(struct run *run, const struct rte_mbuf *mbuf, uint64_t now)
{
	uint32_t number;

	if (!generator_number_get(run->generator, run->shift,
		    rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len, &number) ||
		(uint32_t)(number - run->first) >=
			(uint32_t)(run->generator->number - run->first)) {
		run->seen.foreign++;
		return;
	}
	run->seen.received++;
	if (!(number & run->stamp_mask))
		sample(run, number, mbuf, now);
}

static void receive_frames(struct run *run)
{
	struct rte_mbuf *mbufs[GENERATOR_BURST];

	for (uint16_t queue = 0; queue < run->generator->queues; queue++) {
		uint16_t count =
			rte_eth_rx_burst(run->generator->ethdev, queue, mbufs, GENERATOR_BURST);
		uint64_t received = run->seen.received, now;

		if (!count)
			continue;
		now = rte_rdtsc();
		for (uint16_t i = 0; i < count; i++)
			look_at(run, mbufs[i], now);
		/* Others' frames must not keep us waiting for one of ours that is lost. */
		if (run->seen.received != received)
			run->last_received = now;
		rte_pktmbuf_free_bulk(mbufs, count);
	}
}

/* ---- how many are due */

/* What the window has room for. Frames that do not come back must not close it for ever. */
static uint64_t due_window(struct run *run, uint64_t now)
{
	uint64_t back = run->seen.received + run->given_up;
	uint64_t away = run->seen.sent > back ? run->seen.sent - back : 0;
	uint64_t since = run->last_received > run->last_sent ? run->last_received : run->last_sent;

	if (away < run->trial.window)
		return run->trial.window - away;
	if (now > since && now - since > ticks(run, STALL_MS))
		run->given_up += away;
	return 0;
}

/* What the clock says. */
static uint64_t due_paced(struct run *run, uint64_t now)
{
	uint64_t most = run->trial.rate / 1000 + GENERATOR_BURST;
	uint64_t due = bench_pace_due(&run->pace, now < run->end ? now : run->end);

	if (run->trial.window || due <= most)
		return due;
	bench_pace_give_up(
		&run->pace, due - most, run->stamp_mask + 1, now, &run->generator->latency);
	return most;
}

static uint16_t due(struct run *run, uint64_t now)
{
	uint64_t count = GENERATOR_BURST;

	if (run->trial.window)
		count = due_window(run, now);
	if (run->trial.rate) {
		uint64_t paced = due_paced(run, now);

		count = paced < count || !run->trial.window ? paced : count;
	}
	return count < GENERATOR_BURST ? (uint16_t)count : GENERATOR_BURST;
}

/* ---- trials */

static void run_begin(struct run *run, struct generator *generator)
{
	struct rte_mbuf *mbufs[GENERATOR_BURST];
	uint32_t share = run->trial.idle_us ? 1 : run->trial.rate ? STAMP_PACED : STAMP_FULL;
	uint64_t late;

	run->generator = generator;
	run->shift = generator_shift(generator, run->subject);
	run->stamp_mask = share - 1;
	run->stamp_bits = (uint32_t)__builtin_ctz(share);
	run->check_mask = run->trial.idle_us ? 0 : share * CHECK_SHARE - 1;
	run->first = generator->number;
	run->hz = rte_get_tsc_hz();
	memset(&generator->latency, 0, sizeof(generator->latency));
	memset(generator->stamp, 0, sizeof(generator->stamp));
	late = rte_rdtsc() + ticks(run, DRAIN_MS);
	for (uint16_t queue = 0; queue < generator->queues; queue++) {
		uint16_t count;

		/* What is late from before; a port that never falls silent must not hold us. */
		while (rte_rdtsc() < late && (count = rte_eth_rx_burst(generator->ethdev, queue,
						      mbufs, GENERATOR_BURST)))
			rte_pktmbuf_free_bulk(mbufs, count);
	}
	run->start = run->last_sent = run->last_received = rte_rdtsc();
	if (run->trial.rate && !run->trial.idle_us)
		bench_pace_begin(&run->pace, run->start, run->hz, run->trial.rate);
}

/* Waits for what is still on its way, and reads the result off. */
static void run_end(struct run *run, struct bench_generated *out)
{
	static const double shares[BENCH_LATENCIES - 1] = {0.5, 0.99, 0.999};
	const struct bench_latency *latency = &run->generator->latency;
	double per_ns = (double)run->hz / 1e9;
	uint64_t now = rte_rdtsc(), last;

	run->last_sent = now;
	drop_pending(run);
	while (run->seen.received < run->seen.sent) {
		last = run->last_received > run->last_sent ? run->last_received : run->last_sent;
		now = rte_rdtsc();
		if (now > last && now - last > ticks(run, DRAIN_MS))
			break;
		receive_frames(run);
	}
	run->seen.sending = (double)(run->last_sent - run->start) / (double)run->hz;
	run->seen.seconds = (double)(run->last_received - run->start) / (double)run->hz;
	run->seen.timed = latency->count;
	run->seen.late = run->pace.late;
	run->seen.never = run->pace.never;
	for (int i = 0; i < BENCH_LATENCIES - 1; i++)
		run->seen.latency_ns[i] = (double)bench_latency_at(latency, shares[i]) / per_ns;
	run->seen.latency_ns[BENCH_LATENCIES - 1] = (double)latency->longest / per_ns;
	*out = run->seen;
}

static void run_flows(struct run *run)
{
	for (;;) {
		uint64_t now = rte_rdtsc();
		uint16_t count;

		if (now >= run->end)
			return;
		count = due(run, now);
		if (count)
			send_frames(run, count);
		receive_frames(run);
	}
}

/* What was due before the end of a paced trial and could not go until then. */
static void run_rest(struct run *run)
{
	uint64_t last = run->end + ticks(run, CATCH_UP_MS), now = rte_rdtsc(), left;

	while ((left = bench_pace_due(&run->pace, run->end)) && now < last) {
		uint16_t count = due(run, now);

		if (count)
			send_frames(run, count);
		receive_frames(run);
		now = rte_rdtsc();
	}
	bench_pace_give_up(&run->pace, left, run->stamp_mask + 1, now, &run->generator->latency);
}

static void run_idle(struct run *run)
{
	struct timespec pause = {.tv_sec = run->trial.idle_us / 1000000,
		.tv_nsec = (long)(run->trial.idle_us % 1000000) * 1000};

	while (rte_rdtsc() < run->end) {
		uint64_t sent = run->seen.sent;

		nanosleep(&pause, NULL);
		send_frames(run, 1);
		if (run->seen.sent == sent)
			continue;
		while (run->seen.received < run->seen.sent - run->given_up) {
			receive_frames(run);
			if (rte_rdtsc() - run->last_sent > ticks(run, ANSWER_MS)) {
				run->given_up++;
				break;
			}
		}
	}
}

void generator_trial(struct generator *generator, enum bench_subject subject,
	const struct bench_trial *trial, struct bench_generated *out)
{
	struct run run = {.subject = subject, .trial = *trial};

	run_begin(&run, generator);
	run.end = run.start + (uint64_t)(trial->seconds * (double)run.hz);
	if (trial->idle_us)
		run_idle(&run);
	else
		run_flows(&run);
	if (run.pace.rate)
		run_rest(&run);
	run_end(&run, out);
}

/* One packet of each of so many flows, by a window; adds to `out`. */
static void prime_pass(struct generator *generator, uint8_t flags, uint64_t fill_flow,
	uint64_t count, struct bench_generated *out)
{
	struct run run = {.subject = BENCH_BALANCER,
		.trial = {.window = PRIME_WINDOW},
		.flags = flags,
		.fill_flow = fill_flow};
	struct bench_generated seen;

	generator->position = 0;
	run_begin(&run, generator);
	while (run.seen.sent < count) {
		uint64_t left = count - run.seen.sent;
		uint16_t now = due(&run, rte_rdtsc());

		if (now)
			send_frames(&run, left < now ? (uint16_t)left : now);
		receive_frames(&run);
		/* There is no balancer, or what it sends does not come here. */
		if (run.given_up && !run.seen.received)
			break;
	}
	run_end(&run, &seen);
	out->sent += seen.sent;
	out->received += seen.received;
	out->foreign += seen.foreign;
	out->sampled += seen.sampled;
	out->wrong += seen.wrong;
	out->seconds += seen.seconds;
	out->sending += seen.sending;
	generator->position = 0;
}

void generator_prime(struct generator *generator, struct bench_generated *out)
{
	const struct bench_case *what = generator->frames.what;
	uint64_t fill = (uint64_t)(what->table_fill * (double)what->table_flows);

	*out = (struct bench_generated){};
	if (fill) {
		prime_pass(generator, TCP_SYN, FILL_FIRST, fill, out);
		prime_pass(generator, TCP_ACK, FILL_FIRST, fill, out);
	}
	prime_pass(generator, TCP_SYN, 0, generator->slot_count, out);
	prime_pass(generator, TCP_ACK, 0, generator->slot_count, out);
}
