/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A GET is answered with an expected status and, if the check says so, a body that contains a text.
 * With https the certificate is verified against the name asked for (`sni`, else `host`, else the
 * address), unless verify is off.
 */
#include "check_curl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool status_expected(const struct gw_config_check *check, long status)
{
	for (size_t i = 0; i < check->expect_count; i++)
		if (status >= check->expect[i].low && status <= check->expect[i].high)
			return true;
	return false;
}

static void answer_judge(struct check_curl *probe, struct gw_check_outcome *outcome)
{
	const struct gw_config_check *check = probe->target.check;
	const struct gw_config_bytes *wanted = &check->body;
	long status = 0;

	curl_easy_getinfo(probe->easy, CURLINFO_RESPONSE_CODE, &status);
	outcome->success = status_expected(check, status);
	snprintf(outcome->text, sizeof(outcome->text), "http %ld", status);
	if (!outcome->success || !wanted->length)
		return;
	if (probe->body && memmem(probe->body, probe->body_length, wanted->data, wanted->length))
		return;
	outcome->success = false;
	snprintf(outcome->text, sizeof(outcome->text),
		"http %ld, but the body%s lacks what is expected", status,
		probe->body_size > CHECK_BODY_MAX ? "'s first 64 KiB" : "");
}

/* The name without its port; false when it has an address' form ("[::1]:80", "[::1]"). */
static bool host_name(const char *host, char name[static 256])
{
	if (!host || host[0] == '[')
		return false;
	snprintf(name, 256, "%.*s", (int)strcspn(host, ":"), host);
	return name[0] != '\0';
}

static int tls_set(struct check_curl *probe)
{
	const struct gw_config_check *check = probe->target.check;

	curl_easy_setopt(probe->easy, CURLOPT_SSL_VERIFYPEER, check->verify ? 1L : 0L);
	curl_easy_setopt(probe->easy, CURLOPT_SSL_VERIFYHOST, check->verify ? 2L : 0L);
	if (check->ca_file && curl_easy_setopt(probe->easy, CURLOPT_CAINFO, check->ca_file))
		return -ENOMEM;
	return 0;
}

static int request_make(struct check_curl *probe)
{
	const struct gw_config_check *check = probe->target.check;
	bool tls = check->type == GW_CONFIG_CHECK_HTTPS;
	const char *name = tls ? check->sni : NULL;
	char host[256];
	int ret;

	if (tls && !name && host_name(check->host, host))
		name = host;
	curl_easy_setopt(probe->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	ret = check_curl_url(probe, tls ? "https" : "http", name, check->path ? check->path : "/");
	if (!ret)
		ret = check_curl_header(probe, "Connection: close");
	if (!ret && check->host)
		ret = check_curl_header(probe, "Host: %s", check->host);
	if (!ret && tls)
		ret = tls_set(probe);
	return ret;
}

static int http_start(struct gw_checker *checker, const struct gw_check_target *target,
	gw_check_done *done, void *owner, struct gw_probe **out)
{
	struct check_curl *probe = check_curl_make(checker, target, &gw_check_http, done, owner);
	int ret;

	if (!probe)
		return -ENOMEM;
	probe->judge = answer_judge;
	ret = request_make(probe);
	if (ret) {
		check_curl_cancel(&probe->probe);
		return ret;
	}
	return check_curl_begin(probe, out);
}

const struct gw_check_ops gw_check_http = {
	.start = http_start,
	.cancel = check_curl_cancel,
};
