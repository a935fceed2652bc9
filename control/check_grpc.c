/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grpc.health.v1.Health/Check answers SERVING: a POST over HTTP/2 in the clear, by prior knowledge
 * (gRPC over HTTP2, the protocol's specification; GRPC Health Checking Protocol). The two messages
 * are small enough to be written and read by hand: field 1 of the request is the service's name,
 * field 1 of the response the status (Protocol Buffers, encoding).
 */
#include "check_grpc.h"

#include "check_curl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FRAME_HEADER 5 /* compressed flag, length */
#define TAG_NAME     0x0a
#define SERVING	     1
#define METHOD	     "/grpc.health.v1.Health/Check"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

size_t gw_grpc_request_make(const char *service, uint8_t frame[static GW_GRPC_REQUEST_MAX])
{
	size_t name = service ? strlen(service) : 0, used = FRAME_HEADER;

	if (name) {
		frame[used++] = TAG_NAME;
		frame[used++] = (uint8_t)(name & 0x7f) | (name > 0x7f ? 0x80 : 0);
		if (name > 0x7f)
			frame[used++] = (uint8_t)(name >> 7);
		memcpy(frame + used, service, name);
		used += name;
	}
	memset(frame, 0, FRAME_HEADER);
	frame[3] = (uint8_t)((used - FRAME_HEADER) >> 8);
	frame[4] = (uint8_t)(used - FRAME_HEADER);
	return used;
}

static bool varint_read(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; shift < 64 && *at < end; shift += 7) {
		uint8_t byte = *(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Passes over a field that nobody asked for. */
static bool field_skip(const uint8_t **at, const uint8_t *end, unsigned int wire)
{
	uint64_t size = 0;

	if (wire == WIRE_VARINT)
		return varint_read(at, end, &size);
	if (wire == WIRE_BYTES && !varint_read(at, end, &size))
		return false;
	if (wire == WIRE_64 || wire == WIRE_32)
		size = wire == WIRE_64 ? 8 : 4;
	else if (wire != WIRE_BYTES)
		return false;
	if (size > (uint64_t)(end - *at))
		return false;
	*at += size;
	return true;
}

int gw_grpc_status_read(const uint8_t *data, size_t length, uint64_t *status)
{
	const uint8_t *at = data + FRAME_HEADER, *end;
	uint64_t tag, value = 0;
	size_t size;

	if (length < FRAME_HEADER || data[0])
		return -EBADMSG; /* compressed: we did not say that we can */
	size = (size_t)data[1] << 24 | (size_t)data[2] << 16 | (size_t)data[3] << 8 | data[4];
	if (size > length - FRAME_HEADER)
		return -EBADMSG;
	end = at + size;
	while (at < end) {
		if (!varint_read(&at, end, &tag))
			return -EBADMSG;
		if (tag == (1 << 3 | WIRE_VARINT) ? !varint_read(&at, end, &value)
						  : !field_skip(&at, end, tag & 7))
			return -EBADMSG;
	}
	*status = value;
	return 0;
}

/* Headers and, at the end, trailers. */
static size_t header_take(char *data, size_t size, size_t count, void *owner)
{
	static const char name[] = "grpc-status:";
	struct check_curl *probe = owner;
	char value[16];

	if (size * count >= sizeof(name) && !strncasecmp(data, name, sizeof(name) - 1)) {
		snprintf(value, sizeof(value), "%.*s", (int)(size * count - sizeof(name) + 1),
			data + sizeof(name) - 1);
		probe->grpc_status = atoi(value);
	}
	return size * count;
}

static void answer_judge(struct check_curl *probe, struct gw_check_outcome *outcome)
{
	static const char *const names[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
	static const char *const codes[] = {"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT",
		"DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
		"UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"};
	int code = probe->grpc_status;
	uint64_t status;
	long http = 0;

	curl_easy_getinfo(probe->easy, CURLINFO_RESPONSE_CODE, &http);
	outcome->success = false;
	if (http != 200)
		snprintf(outcome->text, sizeof(outcome->text), "http %ld, not grpc", http);
	else if (code > 0 && code < (int)(sizeof(codes) / sizeof(codes[0])))
		snprintf(outcome->text, sizeof(outcome->text), "grpc error %d, %s", code,
			codes[code]);
	else if (code)
		snprintf(outcome->text, sizeof(outcome->text),
			code < 0 ? "no grpc-status in the answer" : "grpc error %d", code);
	else if (!probe->body || gw_grpc_status_read(probe->body, probe->body_length, &status))
		snprintf(outcome->text, sizeof(outcome->text), "malformed grpc answer");
	else if (status >= sizeof(names) / sizeof(names[0]))
		snprintf(outcome->text, sizeof(outcome->text), "grpc health %llu",
			(unsigned long long)status);
	else {
		outcome->success = status == SERVING;
		snprintf(outcome->text, sizeof(outcome->text), "grpc %s", names[status]);
	}
}

static int request_make(struct check_curl *probe)
{
	const struct gw_config_check *check = probe->target.check;
	uint8_t frame[GW_GRPC_REQUEST_MAX];
	size_t length = gw_grpc_request_make(check->grpc_service, frame);
	CURL *easy = probe->easy;
	int ret = check_curl_url(probe, "http", NULL, METHOD);

	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)length);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_take);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, probe);
	if (!ret && curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, (const char *)frame))
		ret = -ENOMEM;
	if (!ret)
		ret = check_curl_header(probe, "Content-Type: application/grpc");
	if (!ret)
		ret = check_curl_header(probe, "TE: trailers");
	if (!ret)
		ret = check_curl_header(probe, "grpc-timeout: %um", check->timeout_ms);
	if (!ret && check->host)
		ret = check_curl_header(probe, "Host: %s", check->host);
	return ret;
}

static int grpc_start(struct gw_checker *checker, const struct gw_check_target *target,
	gw_check_done *done, void *owner, struct gw_probe **out)
{
	struct check_curl *probe = check_curl_make(checker, target, &gw_check_grpc, done, owner);
	int ret;

	if (!probe)
		return -ENOMEM;
	probe->judge = answer_judge;
	probe->grpc_status = -1;
	ret = request_make(probe);
	if (ret) {
		check_curl_cancel(&probe->probe);
		return ret;
	}
	return check_curl_begin(probe, out);
}

const struct gw_check_ops gw_check_grpc = {
	.start = grpc_start,
	.cancel = check_curl_cancel,
};
