/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name server answers a query over UDP with an expected response code and, if the check says so,
 * a record of the asked type that has an expected value.
 */
#include "check_dns.h"

#include "base/address.h"
#include "check_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>

#define HEADER	      12
#define FLAG_ANSWER   0x80
#define FLAG_RD	      0x01
#define RCODE	      0x0f
#define CLASS_IN      1
#define NAME_MAX_TEXT 1024

enum { TYPE_A = 1, TYPE_NS = 2, TYPE_CNAME = 5, TYPE_SOA = 6, TYPE_PTR = 12, TYPE_MX = 15 };
enum { TYPE_TXT = 16, TYPE_AAAA = 28, TYPE_SRV = 33 };

struct probe_dns {
	struct check_socket base;
	const struct gw_config_check *check;
	size_t query_length;
	uint8_t query[GW_DNS_QUERY_MAX];
};

/* A message being read; `at` is never beyond length. */
struct reader {
	const uint8_t *data;
	size_t length, at;
};

static bool read16(struct reader *reader, uint16_t *value)
{
	if (reader->length - reader->at < 2)
		return false;
	*value = (uint16_t)(reader->data[reader->at] << 8 | reader->data[reader->at + 1]);
	reader->at += 2;
	return true;
}

static bool skip(struct reader *reader, size_t bytes)
{
	if (reader->length - reader->at < bytes)
		return false;
	reader->at += bytes;
	return true;
}

/*
 * Reads a name, with pointers (RFC 1035, 4.1.4), into text without the final dot; a name that is
 * too long for it is malformed. Pointers only lead backwards, so there is an end.
 */
static bool read_name(struct reader *reader, char text[static NAME_MAX_TEXT])
{
	size_t at = reader->at, limit = reader->length, used = 0;
	bool jumped = false;

	for (;;) {
		uint8_t size;

		if (at >= reader->length)
			return false;
		size = reader->data[at];
		if (size >= 0xc0) {
			size_t target;

			if (at + 1 >= reader->length)
				return false;
			target = (size_t)(size & 0x3f) << 8 | reader->data[at + 1];
			if (!jumped)
				reader->at = at + 2;
			jumped = true;
			if (target >= at || target >= limit)
				return false;
			at = limit = target;
			continue;
		}
		if (size > 63 || at + 1 + size > reader->length || used + size + 2 > NAME_MAX_TEXT)
			return false;
		at += 1u + size;
		if (!size)
			break;
		if (used)
			text[used++] = '.';
		memcpy(text + used, reader->data + at - size, size);
		used += size;
	}
	text[used] = '\0';
	if (!jumped)
		reader->at = at;
	return true;
}

size_t gw_dns_query_make(
	const struct gw_config_check *check, uint16_t id, uint8_t query[static GW_DNS_QUERY_MAX])
{
	const uint8_t header[HEADER] = {
		(uint8_t)(id >> 8), (uint8_t)id, FLAG_RD, 0, 0, 1, 0, 0, 0, 0, 0, 0};
	const char *label = check->query;
	size_t used = HEADER;

	memcpy(query, header, sizeof(header));
	while (*label && *label != '.') {
		size_t size = strcspn(label, ".");

		query[used++] = (uint8_t)size;
		memcpy(query + used, label, size);
		used += size;
		label += size + (label[size] == '.');
	}
	query[used++] = 0;
	query[used++] = (uint8_t)(check->query_type >> 8);
	query[used++] = (uint8_t)check->query_type;
	query[used++] = 0;
	query[used++] = CLASS_IN;
	return used;
}

static bool name_equal(const char *found, const char *wanted)
{
	size_t length = strlen(wanted);

	if (length && wanted[length - 1] == '.')
		length--;
	return strlen(found) == length && !strncasecmp(found, wanted, length);
}

/* Whether a record of the asked type, `size` bytes from reader->at on, has the value. */
static bool record_matches(
	const struct gw_config_check *check, const struct reader *message, size_t size)
{
	const uint8_t *data = message->data + message->at;
	struct reader reader = *message;
	char name[NAME_MAX_TEXT];
	uint8_t wanted[16];

	switch (check->query_type) {
	case TYPE_A:
		return size == 4 && !gw_address_parse(check->answer, wanted) &&
		       !memcmp(data, wanted + 12, 4);
	case TYPE_AAAA:
		return size == 16 && !gw_address_parse(check->answer, wanted) &&
		       !memcmp(data, wanted, 16);
	case TYPE_TXT:
		return memmem(data, size, check->answer, strlen(check->answer)) != NULL;
	case TYPE_MX:
		return skip(&reader, 2) && read_name(&reader, name) &&
		       name_equal(name, check->answer);
	case TYPE_SRV:
		return skip(&reader, 6) && read_name(&reader, name) &&
		       name_equal(name, check->answer);
	default:
		return read_name(&reader, name) && name_equal(name, check->answer);
	}
}

/* -1 malformed, else how many records of the asked type there are; *matched: one has the value. */
static int records_read(
	const struct gw_config_check *check, struct reader *reader, uint16_t count, bool *matched)
{
	char name[NAME_MAX_TEXT];
	int found = 0;

	for (uint16_t i = 0; i < count; i++) {
		uint16_t type, class, size;

		if (!read_name(reader, name) || !read16(reader, &type) || !read16(reader, &class) ||
			!skip(reader, 4) || !read16(reader, &size) ||
			reader->length - reader->at < size)
			return -1;
		if (type == check->query_type && class == CLASS_IN) {
			found++;
			*matched |= check->answer && record_matches(check, reader, size);
		}
		reader->at += size;
	}
	return found;
}

static const char *rcode_name(unsigned int code, char text[static 16])
{
	static const char *const names[] = {
		"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"};

	if (code < sizeof(names) / sizeof(names[0]))
		return names[code];
	snprintf(text, 16, "code %u", code);
	return text;
}

static bool rcode_expected(const struct gw_config_check *check, unsigned int code)
{
	for (size_t i = 0; i < check->rcode_count; i++)
		if (check->rcodes[i] == code)
			return true;
	return false;
}

static bool outcome_set(struct gw_check_outcome *outcome, bool success, const char *text)
{
	outcome->success = success;
	snprintf(outcome->text, sizeof(outcome->text), "%s", text);
	return true;
}

bool gw_dns_answer_judge(const struct gw_config_check *check, const uint8_t *query,
	size_t query_length, const uint8_t *answer, size_t length, struct gw_check_outcome *outcome)
{
	struct reader reader = {.data = answer, .length = length, .at = query_length};
	unsigned int code;
	uint16_t count;
	bool matched = false;
	char text[16];
	int found;

	if (length < HEADER || memcmp(answer, query, 2) || !(answer[2] & FLAG_ANSWER))
		return false;
	code = answer[3] & RCODE;
	if (!rcode_expected(check, code)) {
		outcome->success = false;
		snprintf(outcome->text, sizeof(outcome->text), "dns %s", rcode_name(code, text));
		return true;
	}
	/* The question comes back as it was, in any case of letters. */
	if (answer[4] != 0 || answer[5] != 1 || length < query_length ||
		strncasecmp((const char *)answer + HEADER, (const char *)query + HEADER,
			strlen((const char *)query + HEADER)) ||
		memcmp(answer + query_length - 4, query + query_length - 4, 4))
		return outcome_set(outcome, false, "the answer is to another question");
	count = (uint16_t)(answer[6] << 8 | answer[7]);
	found = records_read(check, &reader, count, &matched);
	if (found < 0)
		return outcome_set(outcome, false, "malformed answer");
	if (check->answer && !matched) {
		outcome->success = false;
		snprintf(outcome->text, sizeof(outcome->text),
			"dns %s, none of %d records is %.60s", rcode_name(code, text), found,
			check->answer);
		return true;
	}
	outcome->success = true;
	snprintf(outcome->text, sizeof(outcome->text), "dns %s, records: %d",
		rcode_name(code, text), found);
	return true;
}

static void datagram_ready(struct check_socket *base, int error, int events)
{
	struct probe_dns *probe = (struct probe_dns *)base;
	struct gw_check_outcome outcome;
	const uint8_t *answer;
	ssize_t length = check_socket_receive(base, error, &answer);

	if (length >= 0 && gw_dns_answer_judge(probe->check, probe->query, probe->query_length,
				   answer, (size_t)length, &outcome))
		check_socket_answer(base, outcome.success, "%s", outcome.text);
}

static int dns_start(struct gw_checker *checker, const struct gw_check_target *target,
	gw_check_done *done, void *owner, struct gw_probe **out)
{
	const struct check_socket kind = {
		.probe.ops = &gw_check_dns, .ready = datagram_ready, .done = done, .owner = owner};
	struct check_socket *base;
	struct probe_dns *probe;
	uint16_t id = 0;
	int ret = check_socket_start(
		checker, target, SOCK_DGRAM, UV_READABLE, sizeof(*probe), &kind, &base);

	if (ret)
		return ret;
	probe = (struct probe_dns *)base;
	probe->check = target->check;
	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
		id = (uint16_t)uv_hrtime();
	probe->query_length = gw_dns_query_make(probe->check, id, probe->query);
	if (send(base->fd, probe->query, probe->query_length, MSG_NOSIGNAL) < 0) {
		ret = -errno;
		check_socket_cancel(&base->probe);
		return ret;
	}
	*out = &base->probe;
	return 0;
}

const struct gw_check_ops gw_check_dns = {
	.start = dns_start,
	.cancel = check_socket_cancel,
};
