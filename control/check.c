/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/check.h"

#include "check_http.h"

#include <errno.h>
#include <stdlib.h>

struct gw_checker {
	uv_loop_t *loop;
	struct gw_http_prober *http;
};

int gw_checker_new(uv_loop_t *loop, struct gw_checker **out)
{
	struct gw_checker *checker = calloc(1, sizeof(*checker));
	int ret;

	if (!checker)
		return -ENOMEM;
	checker->loop = loop;
	ret = gw_http_prober_new(loop, &checker->http);
	if (ret) {
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
	gw_http_prober_free(checker->http);
	free(checker);
}

uv_loop_t *gw_checker_loop(struct gw_checker *checker)
{
	return checker->loop;
}

struct gw_http_prober *gw_checker_http(struct gw_checker *checker)
{
	return checker->http;
}

const struct gw_check_ops *gw_check_ops_find(enum gw_config_check_type type)
{
	static const struct gw_check_ops *const kinds[] = {
		[GW_CONFIG_CHECK_TCP] = &gw_check_tcp,
		[GW_CONFIG_CHECK_HTTP] = &gw_check_http,
	};

	return kinds[type];
}
