/* SPDX-License-Identifier: BSD-2-Clause */
#include "session.h"

#include "abi/parse.h"
#include "base/log.h"
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A packet whose line has not been told yet. */
struct entry {
	bool decided;
	struct story story;
	uint8_t *frame; /* a copy, while it is held */
	size_t length;
	char *text; /* -v: its stages */
	size_t text_length;
};

struct session {
	const struct session_options *options;
	const struct gw_build *build;
	struct capture_in *in;
	struct capture_out *out;
	struct capture_out *host;
	struct entry *entries; /* of the packets from `told` on */
	size_t entry_count;
	size_t entry_room;
	uint64_t told;
	uint64_t index; /* of the frame that is under way … */
	const uint8_t *frame;
	size_t length;
	uint64_t now_ns;
	uint64_t written; /* frames to --out */
	uint64_t counted; /* packets that went through the pipeline */
	bool failed;
};

static struct entry *entry_add(struct session *session)
{
	if (session->entry_count == session->entry_room) {
		size_t room = session->entry_room ? session->entry_room * 2 : 64;
		struct entry *grown =
			reallocarray(session->entries, room, sizeof(*session->entries));

		if (!grown)
			return NULL;
		session->entries = grown;
		session->entry_room = room;
	}
	session->entries[session->entry_count] = (struct entry){0};
	return &session->entries[session->entry_count++];
}

static void entry_tell(const struct session *session, uint64_t index, const struct entry *entry)
{
	const struct session_options *options = session->options;

	if (entry->text)
		fwrite(entry->text, 1, entry->text_length, options->json ? stderr : stdout);
	if (options->json)
		report_json(stdout, session->build, index, &entry->story);
	else if (!options->verbose)
		report_line(stdout, session->build, index, &entry->story);
}

/* Tells the lines of all packets up to the first whose verdict is not known yet. */
static void tell_decided(struct session *session)
{
	size_t done = 0;

	while (done < session->entry_count && session->entries[done].decided) {
		struct entry *entry = &session->entries[done];

		entry_tell(session, session->told++, entry);
		free(entry->frame);
		free(entry->text);
		done++;
	}
	session->entry_count -= done;
	memmove(session->entries, session->entries + done,
		session->entry_count * sizeof(*session->entries));
}

static void write_frames(struct session *session, struct entry *entry, const struct fate *fate)
{
	entry->story.first_out = session->written;
	for (size_t i = 0; session->out && i < fate->out_count; i++)
		capture_write(
			session->out, fate->out[i].bytes, fate->out[i].length, session->now_ns);
	session->written += fate->out_count;
	if (session->host && fate->verdict == GW_VERDICT_HOST)
		capture_write(session->host, entry->frame ? entry->frame : session->frame,
			entry->length, session->now_ns);
}

static int keep_frame(struct session *session, struct entry *entry)
{
	entry->frame = malloc(entry->length);
	if (!entry->frame)
		return -ENOMEM;
	memcpy(entry->frame, session->frame, entry->length);
	entry->story.held = true;
	return 0;
}

static void write_stages(struct session *session, uint64_t index, struct entry *entry)
{
	FILE *stream = open_memstream(&entry->text, &entry->text_length);

	if (!stream) {
		session->failed = true;
		return;
	}
	entry->story.flow_after = session->options->path->flow(&entry->story.key);
	report_stages(stream, session->build, index, entry->frame ? entry->frame : session->frame,
		entry->length, &entry->story);
	fclose(stream);
}

static void decided(void *owner, uint64_t index, const struct fate *fate)
{
	struct session *session = owner;
	struct entry *entry = &session->entries[index - session->told];

	entry->story.fate = *fate;
	if (fate->verdict == GW_VERDICT_HELD) {
		if (keep_frame(session, entry))
			session->failed = true;
		return;
	}
	write_frames(session, entry, fate);
	entry->story.ended_ns = session->now_ns;
	entry->decided = true;
	if (session->options->verbose)
		write_stages(session, index, entry);
}

/* A frame without a whole Ethernet header never reaches a driver; no test run takes it either. */
static void decide_short(struct session *session)
{
	const struct fate fate = {.verdict = GW_VERDICT_DROP,
		.reason = GW_DROP_MALFORMED,
		.service = GW_NONE,
		.backend = GW_NONE,
		.slot = GW_NONE};

	decided(session, session->index, &fate);
}

/* What the tracer wants to know of the moment before. */
static void note_before(struct session *session, struct entry *entry)
{
	const struct path *path = session->options->path;
	const uint8_t *end = session->frame + session->length;
	struct gw_packet packet;

	if (gw_parse_destination(session->frame, end, &packet) != GW_PARSE_OK)
		return;
	if (gw_parse_transport(session->frame, end, (uint32_t)session->length, &packet) ==
		GW_PARSE_OK) {
		entry->story.key = packet.key;
		entry->story.flow_before = path->flow(&packet.key);
	}
}

static int play_one(struct session *session)
{
	struct entry *entry = entry_add(session);

	if (!entry)
		return -ENOMEM;
	entry->length = session->length;
	entry->story.came_ns = session->now_ns;
	entry->story.mtu = session->options->mtu;
	entry->story.ways = session->options->ways;
	if (session->length < GW_ETH_HEADER) {
		decide_short(session);
		return 0;
	}
	if (session->length > REPLAY_IN_MAX) {
		gw_log_error("no port takes such a frame: at most %d bytes", REPLAY_IN_MAX);
		return -EMSGSIZE;
	}
	if (session->options->verbose)
		note_before(session, entry);
	session->counted++;
	return session->options->path->run(
		session->index, session->frame, session->length, session->now_ns);
}

/* rx = tx + to_host + replied + consumed + held + drops, and all that was sent in was counted. */
static int check_sum(const struct session *session)
{
	struct gw_counters counters;
	uint64_t sum;

	if (session->options->path->counters(&counters))
		return -1;
	sum = counters.tx + counters.to_host + counters.replied + counters.consumed + counters.held;
	for (int i = 0; i < GW_DROP_MAX; i++)
		sum += counters.drops[i];
	if (counters.rx == sum && counters.rx == session->counted)
		return 0;
	gw_log_error(
		"the counters do not add up: %llu frames sent in, rx %llu, sum of verdicts %llu",
		(unsigned long long)session->counted, (unsigned long long)counters.rx,
		(unsigned long long)sum);
	return -1;
}

static int play(struct session *session)
{
	int more;

	while ((more = capture_read(
			session->in, &session->frame, &session->length, &session->now_ns)) > 0) {
		if (play_one(session) || session->failed) {
			gw_log_error("frame %llu (%zu bytes) could not be processed",
				(unsigned long long)session->index, session->length);
			return -1;
		}
		tell_decided(session);
		session->index++;
	}
	if (more < 0)
		return -1;
	session->options->path->finish();
	tell_decided(session);
	if (session->entry_count || session->failed) {
		gw_log_error("packet %llu got no verdict", (unsigned long long)session->told);
		return -1;
	}
	return check_sum(session);
}

/* Opening `out` to write would empty the capture that is read. */
static bool overwrites(const char *in, const char *out)
{
	struct stat a, b;

	if (!out || stat(in, &a) || stat(out, &b) || !S_ISREG(a.st_mode))
		return false;
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int open_files(struct session *session)
{
	const struct session_options *options = session->options;

	if (overwrites(options->in, options->out) || overwrites(options->in, options->host)) {
		gw_log_error("%s is the capture to be read: write to another file", options->in);
		return -1;
	}
	session->in = capture_open(options->in);
	if (!session->in)
		return -1;
	session->out = options->out ? capture_create(options->out) : NULL;
	session->host = options->host ? capture_create(options->host) : NULL;
	if ((options->out && !session->out) || (options->host && !session->host))
		return -1;
	return 0;
}

static int close_files(struct session *session, int status)
{
	if (capture_finish(session->out))
		status = -1;
	if (capture_finish(session->host))
		status = -1;
	capture_close(session->in);
	for (size_t i = 0; i < session->entry_count; i++) {
		free(session->entries[i].frame);
		free(session->entries[i].text);
	}
	free(session->entries);
	return status;
}

int session_run(const struct session_options *options, const struct gw_build *build)
{
	struct session session = {.options = options, .build = build};
	const struct sink sink = {decided, &session};
	const struct path_setup setup = {.snapshot = build->snapshot,
		.flows = options->flows,
		.ways = options->ways,
		.untraced = options->untraced};
	int status = open_files(&session);

	if (!status) {
		status = options->path->open(&setup, &sink) ? -1 : 0;
		if (!status)
			status = play(&session);
		options->path->close();
	}
	return close_files(&session, status);
}

struct frame *frames_alloc(void)
{
	struct frame *frames = calloc(REPLAY_OUT_MAX, sizeof(*frames));

	for (int i = 0; frames && i < REPLAY_OUT_MAX; i++) {
		frames[i].bytes = malloc(REPLAY_FRAME_MAX);
		if (!frames[i].bytes) {
			frames_free(frames);
			return NULL;
		}
	}
	return frames;
}

void frames_free(struct frame *frames)
{
	for (int i = 0; frames && i < REPLAY_OUT_MAX; i++)
		free(frames[i].bytes);
	free(frames);
}
