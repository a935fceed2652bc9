/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/health.h"

#include <stdio.h>

static void streak_count(struct gw_health_track *track, bool success)
{
	if (track->streak && track->streak_of_success != success)
		track->streak = 0;
	track->streak_of_success = success;
	if (track->streak < UINT16_MAX)
		track->streak++;
}

bool gw_health_feed(struct gw_health_track *track, const struct gw_health_rules *rules,
	bool success, const char *text, struct gw_health_change *change)
{
	enum gw_health verdict = success ? GW_HEALTH_UP : GW_HEALTH_DOWN;
	uint16_t needed = success ? rules->rise : rules->fall;

	if (track->health == GW_HEALTH_UNKNOWN && rules->presumed)
		needed = 1;
	streak_count(track, success);
	if (track->health == verdict || track->streak < needed)
		return false;
	change->from = track->health;
	change->to = verdict;
	snprintf(change->cause, sizeof(change->cause), "%.120s, %u of %u", text, track->streak,
		needed);
	track->health = verdict;
	return true;
}

char *gw_health_next(const struct gw_health_track *track, const struct gw_health_rules *rules,
	char text[static GW_HEALTH_CAUSE])
{
	bool up = track->health == GW_HEALTH_UP;
	uint16_t needed = up ? rules->fall : rules->rise;
	uint16_t seen = track->streak && track->streak_of_success != up ? track->streak : 0;
	const char *what = up ? "failure" : "success", *many = up ? "failures" : "successes";
	const char *end = up ? "down" : "up", *verb = up ? "take" : "bring";
	unsigned int left = needed > seen ? (unsigned int)(needed - seen) : 1u;

	if (track->health == GW_HEALTH_UNKNOWN && rules->presumed)
		snprintf(text, GW_HEALTH_CAUSE, "not judged yet; the next answer decides");
	else if (left == 1)
		snprintf(text, GW_HEALTH_CAUSE, "%u of %u %s; the next %s %ss it %s", seen, needed,
			many, what, verb, end);
	else
		snprintf(text, GW_HEALTH_CAUSE, "%u of %u %s; %u more in a row %s it %s", seen,
			needed, many, left, verb, end);
	return text;
}
