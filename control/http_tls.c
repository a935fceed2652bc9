/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/http_tls.h"

#include "abi/key.h" /* XXH3 */

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int certificate_read(
	const char *path, char **text, size_t *length, char error[static GW_PRIVATE_ERROR])
{
	FILE *file = fopen(path, "re");
	char *buffer = malloc(GW_PRIVATE_BYTES_MAX + 1);
	int ret = 0;

	if (!file || !buffer) {
		ret = file ? -ENOMEM : -errno;
	} else {
		*length = fread(buffer, 1, GW_PRIVATE_BYTES_MAX, file);
		buffer[*length] = 0;
		if (ferror(file))
			ret = -EIO;
		else if (!feof(file) && getc(file) != EOF)
			ret = -EFBIG;
	}
	if (file)
		fclose(file);
	if (ret) {
		snprintf(error, GW_PRIVATE_ERROR, "cannot read %s: %s", path, strerror(-ret));
		free(buffer);
		return ret;
	}
	*text = buffer;
	return 0;
}

/* As the server will take them; also finds when the first certificate ends. */
static int pair_try(struct gw_http_tls *tls, size_t length)
{
	gnutls_datum_t certificate = {(unsigned char *)tls->certificate, (unsigned int)length};
	gnutls_datum_t key = {(unsigned char *)tls->key, (unsigned int)tls->key_length};
	gnutls_certificate_credentials_t credentials;
	gnutls_x509_crt_t *list = NULL;
	unsigned int count = 0;
	int ret = gnutls_certificate_allocate_credentials(&credentials);

	if (ret)
		return ret;
	ret = gnutls_certificate_set_x509_key_mem(
		credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(credentials);
	if (ret < 0)
		return ret;
	ret = gnutls_x509_crt_list_import2(&list, &count, &certificate, GNUTLS_X509_FMT_PEM, 0);
	if (ret < 0)
		return ret;
	tls->expires_ms = (int64_t)gnutls_x509_crt_get_expiration_time(list[0]) * 1000;
	for (unsigned int i = 0; i < count; i++)
		gnutls_x509_crt_deinit(list[i]);
	gnutls_free(list);
	return 0;
}

int gw_http_tls_read(struct gw_http_tls *tls, const char *certificate, const char *key,
	char error[static GW_PRIVATE_ERROR])
{
	struct gw_http_tls made = {0};
	size_t length = 0;
	int ret = certificate_read(certificate, &made.certificate, &length, error);

	if (!ret)
		ret = gw_private_read(key, &made.key, &made.key_length, error);
	if (ret) {
		gw_http_tls_clear(&made);
		return ret;
	}
	ret = pair_try(&made, length);
	if (ret < 0) {
		snprintf(error, GW_PRIVATE_ERROR, "%s and %s are no certificate with its key: %s",
			certificate, key, gnutls_strerror(ret));
		gw_http_tls_clear(&made);
		return -EINVAL;
	}
	made.hash = XXH3_64bits_withSeed(
		made.key, made.key_length, XXH3_64bits(made.certificate, length));
	*tls = made;
	return 0;
}

void gw_http_tls_clear(struct gw_http_tls *tls)
{
	free(tls->certificate);
	gw_private_wipe(tls->key, tls->key_length);
	*tls = (struct gw_http_tls){0};
}
