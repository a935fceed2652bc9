/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/metrics.h"

#include "control/api.h"
#include "metrics_families.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MS 500 /* an answer is given again for so long */

static const char index_page[] =
	"guideway-control " GW_VERSION ": metrics in Prometheus' text format are at /metrics\n";

size_t gw_metrics_body_limit(void *owner, const struct gw_http_request *request)
{
	return 0;
}

static void text_reply(struct gw_http_reply *reply, unsigned int status, const char *text)
{
	reply->status = status;
	reply->text = strdup(text);
	reply->text_length = strlen(text);
	reply->text_type = "text/plain; charset=utf-8";
}

/* Returns false without memory, and then what was kept is as before. */
static bool text_make(struct gw_daemon *daemon, struct gw_metrics_cache *cache)
{
	struct metrics_text text = {.room = 0};
	struct gw_publisher_stats stats;
	uint64_t begun = uv_hrtime();
	bool counted = !daemon->publisher->ops->recent(daemon->publisher, &stats);

	metrics_daemon(&text, daemon);
	metrics_objects(&text, daemon->build, counted ? &stats : NULL);
	metrics_probes(&text, daemon);
	if (counted)
		metrics_datapath(&text, daemon, &stats);
	if (text.failed) {
		free(text.data);
		return false;
	}
	free(cache->text);
	cache->text = text.data;
	cache->length = text.length;
	cache->made_ms = gw_time_wall_ms();
	cache->took_s = (double)(uv_hrtime() - begun) / 1e9;
	return true;
}

static void metrics_send(struct gw_daemon *daemon, struct gw_http_reply *reply)
{
	struct gw_metrics_cache *cache = &daemon->metrics;
	int64_t age = gw_time_wall_ms() - cache->made_ms;

	cache->scrapes++;
	if ((!cache->text || age < 0 || age > KEPT_MS) && !text_make(daemon, cache))
		return; /* no body: an internal error */
	reply->text = malloc(cache->length);
	if (!reply->text)
		return;
	memcpy(reply->text, cache->text, cache->length);
	reply->text_length = cache->length;
	reply->text_type = "text/plain; version=0.0.4; charset=utf-8";
}

void gw_metrics_answer(
	void *owner, const struct gw_http_request *request, struct gw_http_reply *reply)
{
	struct gw_daemon *daemon = ((struct gw_api_entry *)owner)->daemon;
	bool metrics = !strcmp(request->path, "/metrics");

	if (request->oversized)
		text_reply(reply, 413, "a request here has no body\n");
	else if (daemon->stopping)
		text_reply(reply, 503, "guideway-control is about to end\n");
	else if (!metrics && strcmp(request->path, "/") != 0)
		text_reply(reply, 404, "there is only /metrics here\n");
	else if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
		text_reply(reply, 405, "only GET is possible here\n");
		reply->allow = "GET, HEAD";
	} else if (metrics)
		metrics_send(daemon, reply);
	else
		text_reply(reply, 200, index_page);
}

void gw_metrics_cache_free(struct gw_metrics_cache *cache)
{
	free(cache->text);
	*cache = (struct gw_metrics_cache){0};
}
