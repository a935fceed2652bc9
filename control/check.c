/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/check.h"

#include "check_curl.h"
#include "check_icmp.h"

#include <errno.h>
#include <stdlib.h>

struct gw_checker {
	uv_loop_t *loop;
	struct gw_check_curl *curl;
	struct gw_check_pinger *pinger;
};

int gw_checker_new(uv_loop_t *loop, struct gw_checker **out)
{
	struct gw_checker *checker = calloc(1, sizeof(*checker));
	int ret;

	if (!checker)
		return -ENOMEM;
	checker->loop = loop;
	ret = gw_check_curl_new(loop, &checker->curl);
	if (!ret)
		ret = gw_check_pinger_new(loop, &checker->pinger);
	if (ret) {
		gw_check_curl_free(checker->curl);
		free(checker);
		return ret;
	}
	*out = checker;
	return 0;
}

void gw_checker_free(struct gw_checker *checker)
{
	if (!checker)
		return;
	gw_check_curl_free(checker->curl);
	gw_check_pinger_free(checker->pinger);
	free(checker);
}

uv_loop_t *gw_checker_loop(struct gw_checker *checker)
{
	return checker->loop;
}

struct gw_check_curl *gw_checker_curl(struct gw_checker *checker)
{
	return checker->curl;
}

struct gw_check_pinger *gw_checker_pinger(struct gw_checker *checker)
{
	return checker->pinger;
}

const struct gw_check_ops *gw_check_ops_find(enum gw_config_check_type type)
{
	static const struct gw_check_ops *const kinds[GW_CONFIG_CHECK_TYPES] = {
		[GW_CONFIG_CHECK_TCP] = &gw_check_tcp,
		[GW_CONFIG_CHECK_HTTP] = &gw_check_http,
		[GW_CONFIG_CHECK_HTTPS] = &gw_check_http,
		[GW_CONFIG_CHECK_UDP] = &gw_check_udp,
		[GW_CONFIG_CHECK_DNS] = &gw_check_dns,
		[GW_CONFIG_CHECK_ICMP] = &gw_check_icmp,
		[GW_CONFIG_CHECK_GRPC] = &gw_check_grpc,
	};

	return kinds[type];
}
