/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture.h"

#include "base/log.h"

#include <pcap/pcap.h>
#include <stdlib.h>

#define SNAP_LENGTH 262144

struct capture_in {
	pcap_t *pcap;
	const char *path;
	uint64_t index;
};

struct capture_out {
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	const char *path;
};

struct capture_in *capture_open(const char *path)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap =
		pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error);
	struct capture_in *in;

	if (!pcap) {
		gw_log_error("--in: %s", error);
		return NULL;
	}
	if (pcap_datalink(pcap) != DLT_EN10MB) {
		gw_log_error("--in: %s holds no Ethernet frames but link type %s", path,
			pcap_datalink_val_to_name(pcap_datalink(pcap)));
		pcap_close(pcap);
		return NULL;
	}
	in = calloc(1, sizeof(*in));
	if (!in) {
		pcap_close(pcap);
		return NULL;
	}
	in->pcap = pcap;
	in->path = path;
	return in;
}

int capture_read(struct capture_in *in, const uint8_t **frame, size_t *length, uint64_t *time_ns)
{
	struct pcap_pkthdr *head;
	int result = pcap_next_ex(in->pcap, &head, frame);

	if (result == PCAP_ERROR_BREAK)
		return 0;
	if (result != 1) {
		gw_log_error("--in: %s: frame %llu: %s", in->path, (unsigned long long)in->index,
			pcap_geterr(in->pcap));
		return -1;
	}
	if (head->caplen < head->len) {
		gw_log_error("--in: %s: frame %llu was captured in part (%u of %u bytes): capture "
			     "with -s 0",
			in->path, (unsigned long long)in->index, head->caplen, head->len);
		return -1;
	}
	in->index++;
	*length = head->caplen;
	/* Nanosecond precision was asked for, so tv_usec holds nanoseconds. */
	*time_ns = (uint64_t)head->ts.tv_sec * 1000000000u + (uint64_t)head->ts.tv_usec;
	return 1;
}

void capture_close(struct capture_in *in)
{
	if (!in)
		return;
	pcap_close(in->pcap);
	free(in);
}

struct capture_out *capture_create(const char *path)
{
	struct capture_out *out = calloc(1, sizeof(*out));

	if (!out)
		return NULL;
	out->path = path;
	out->pcap = pcap_open_dead_with_tstamp_precision(
		DLT_EN10MB, SNAP_LENGTH, PCAP_TSTAMP_PRECISION_NANO);
	out->dumper = out->pcap ? pcap_dump_open(out->pcap, path) : NULL;
	if (out->dumper)
		return out;
	gw_log_error("cannot write %s: %s", path, out->pcap ? pcap_geterr(out->pcap) : "no memory");
	if (out->pcap)
		pcap_close(out->pcap);
	free(out);
	return NULL;
}

void capture_write(struct capture_out *out, const uint8_t *frame, size_t length, uint64_t time_ns)
{
	struct pcap_pkthdr head = {
		.ts = {.tv_sec = (time_t)(time_ns / 1000000000u),
			.tv_usec = (suseconds_t)(time_ns % 1000000000u)},
		.caplen = (bpf_u_int32)length,
		.len = (bpf_u_int32)length,
	};

	pcap_dump((u_char *)out->dumper, &head, frame);
}

int capture_finish(struct capture_out *out)
{
	int status = 0;

	if (!out)
		return 0;
	if (pcap_dump_flush(out->dumper)) {
		gw_log_error("cannot write %s", out->path);
		status = -1;
	}
	pcap_dump_close(out->dumper);
	pcap_close(out->pcap);
	free(out);
	return status;
}
