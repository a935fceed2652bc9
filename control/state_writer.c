/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/state_writer.h"

#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MS 5000

struct gw_state_writer {
	struct gw_state *state;
	uv_loop_t *loop;
	uv_timer_t timer;
	uv_work_t work;
	char *dir;  /* NULL: nothing is kept */
	char *text; /* given to the thread; NULL: no writing is under way */
	uint64_t text_number;
	uint64_t last_number; /* texts are numbered as they are made */
	bool dirty;	      /* changed since the last text was made */
	bool closing;
	bool complained;
	int status;	       /* of the thread's writing */
	pthread_mutex_t mutex; /* held while the file is written; guards written_number */
	uint64_t written_number;
};

/* An older text never replaces a newer one that a flush put there meanwhile. */
static int text_write(struct gw_state_writer *writer, const char *text, uint64_t number)
{
	int status = 0;

	pthread_mutex_lock(&writer->mutex);
	if (number > writer->written_number)
		status = gw_state_write(writer->dir, text);
	if (!status && number > writer->written_number)
		writer->written_number = number;
	pthread_mutex_unlock(&writer->mutex);
	return status;
}

static void writer_write(uv_work_t *work)
{
	struct gw_state_writer *writer = work->data;

	writer->status = text_write(writer, writer->text, writer->text_number);
}

static void writer_free(struct gw_state_writer *writer)
{
	pthread_mutex_destroy(&writer->mutex);
	free(writer->dir);
	free(writer);
}

static void writer_closed(uv_handle_t *handle)
{
	struct gw_state_writer *writer = handle->data;

	/* A writing still under way frees it when done. */
	if (writer->text)
		writer->timer.data = NULL;
	else
		writer_free(writer);
}

static void writer_report(struct gw_state_writer *writer, int status)
{
	if (status < 0 && !writer->complained)
		gw_log_error("%s/%s cannot be written: %s; it will be tried again", writer->dir,
			GW_STATE_FILE, strerror(-status));
	else if (!status && writer->complained)
		gw_log_info("%s/%s can be written again", writer->dir, GW_STATE_FILE);
	writer->complained = status < 0;
}

static void writer_due(uv_timer_t *timer);

static void writer_schedule(struct gw_state_writer *writer, uint64_t delay_ms)
{
	if (!writer->closing && !uv_is_active((uv_handle_t *)&writer->timer))
		uv_timer_start(&writer->timer, writer_due, delay_ms, 0);
}

static void writer_done(uv_work_t *work, int status)
{
	struct gw_state_writer *writer = work->data;

	free(writer->text);
	writer->text = NULL;
	if (writer->closing) {
		if (!writer->timer.data)
			writer_free(writer);
		return;
	}
	writer_report(writer, writer->status);
	if (writer->status < 0)
		writer->dirty = true;
	if (writer->dirty)
		writer_schedule(writer, writer->status < 0 ? RETRY_MS : GW_STATE_DELAY_MS);
}

static void writer_due(uv_timer_t *timer)
{
	struct gw_state_writer *writer = timer->data;

	if (!writer->dirty || writer->text)
		return;
	writer->text = gw_state_text(writer->state);
	if (!writer->text) {
		writer_report(writer, -ENOMEM);
		writer_schedule(writer, RETRY_MS);
		return;
	}
	writer->text_number = ++writer->last_number;
	writer->dirty = false;
	writer->work.data = writer;
	if (uv_queue_work(writer->loop, &writer->work, writer_write, writer_done) < 0) {
		free(writer->text);
		writer->text = NULL;
		writer->dirty = true;
		writer_schedule(writer, RETRY_MS);
	}
}

int gw_state_writer_open(uv_loop_t *loop, struct gw_state *state, struct gw_state_writer **out)
{
	struct gw_state_writer *writer = calloc(1, sizeof(*writer));
	const char *dir = gw_state_dir(state);

	if (!writer)
		return -ENOMEM;
	writer->state = state;
	writer->loop = loop;
	writer->dir = dir ? strdup(dir) : NULL;
	if (dir && !writer->dir) {
		free(writer);
		return -ENOMEM;
	}
	pthread_mutex_init(&writer->mutex, NULL);
	uv_timer_init(loop, &writer->timer);
	writer->timer.data = writer;
	*out = writer;
	return 0;
}

void gw_state_writer_touch(struct gw_state_writer *writer)
{
	if (!writer->dir)
		return;
	writer->dirty = true;
	if (!writer->text)
		writer_schedule(writer, GW_STATE_DELAY_MS);
}

int gw_state_writer_flush(struct gw_state_writer *writer)
{
	char *text;
	int status;

	if (!writer->dir)
		return 0;
	text = gw_state_text(writer->state);
	status = text ? text_write(writer, text, ++writer->last_number) : -ENOMEM;
	free(text);
	writer_report(writer, status);
	writer->dirty = status < 0;
	if (status < 0)
		writer_schedule(writer, RETRY_MS);
	return status;
}

void gw_state_writer_close(struct gw_state_writer *writer)
{
	if (!writer)
		return;
	if (writer->dirty || writer->text)
		gw_state_writer_flush(writer);
	writer->closing = true;
	uv_close((uv_handle_t *)&writer->timer, writer_closed);
}
