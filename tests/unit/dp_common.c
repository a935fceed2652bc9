/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The short cuts of the common packet, each against the long way that says what is right: the
 * reader against the whole parser, the hash against the library's, the straight line of headers
 * against frames in pieces, which never take it.
 */
#include "dataplane/common.h"
#include "dp_harness.h"
#include "frames.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static const struct gw_port port = {.mac = {{2, 0, 0, 0, 0, 0x0b}}};
static const struct gw_port any_port = {.any_mac = true};

static uint64_t random_state = 1;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct frame udp_v4(void)
{
	struct frame frame = frame_v4();

	frame.bytes[23] = GW_PROTO_UDP;
	return frame;
}

static struct frame tcp_v6(void)
{
	struct frame frame = frame_v6();

	frame.bytes[20] = GW_PROTO_TCP;
	frame.bytes[19] = 32; /* payload: a header with options, and 4 bytes */
	frame.length = FRAME_ETH + 40 + 32;
	memset(frame.bytes + 58, 0, 28);
	frame.bytes[66] = 0x70;
	frame.bytes[67] = 0x12;
	return frame;
}

/* What the long road makes of the frame; false: it does not go on to a service. */
static bool parse_whole(
	const struct gw_port *at, const uint8_t *bytes, size_t length, struct gw_packet *packet)
{
	if (length < GW_ETH_HEADER)
		return false;
	if (!at->any_mac && (memcmp(bytes, &at->mac, 6) != 0 || !memcmp(bytes + 6, &at->mac, 6)))
		return false;
	return gw_parse_destination(bytes, bytes + length, packet) == GW_PARSE_OK &&
	       gw_parse_transport(bytes, bytes + length, (uint32_t)length, packet) == GW_PARSE_OK;
}

/* Whether the frame counts as common; if so it must be what the long road makes of it. */
static bool agrees(const struct gw_port *at, const struct frame *frame)
{
	const struct gw_common_link link = gw_common_link(at);
	uint8_t *bytes = malloc(frame->length ? frame->length : 1); /* of exact size, for ASan */
	struct gw_packet fast, whole;
	uint64_t key[GW_KEY_WORDS];
	bool common;

	memcpy(bytes, frame->bytes, frame->length);
	memset(&fast, 0xa5, sizeof(fast));
	common = gw_common_read(&link, bytes, (uint32_t)frame->length, &fast, key);
	if (common) {
		CU_ASSERT(parse_whole(at, bytes, frame->length, &whole));
		CU_ASSERT_EQUAL(memcmp(&fast, &whole, sizeof(fast)), 0);
		CU_ASSERT_EQUAL(memcmp(key, &whole.key, sizeof(whole.key)), 0);
	}
	free(bytes);
	return common;
}

static struct frame (*const makers[])(void) = {frame_v4, frame_v6, udp_v4, tcp_v6};
#define MAKERS (sizeof(makers) / sizeof(makers[0]))

static void whole_tcp_and_udp_of_both_families_are_common(void)
{
	for (size_t m = 0; m < MAKERS; m++) {
		struct frame frame = makers[m]();

		CU_ASSERT(agrees(&port, &frame));
		CU_ASSERT(agrees(&any_port, &frame));
		/* Ethernet's padding changes nothing. */
		memset(frame.bytes + frame.length, 0xee, 30);
		frame.length += 30;
		CU_ASSERT(agrees(&port, &frame));
	}
}

static void a_frame_with_any_bit_changed_is_read_as_the_whole_parser_reads_it(void)
{
	for (size_t m = 0; m < MAKERS; m++) {
		const struct frame good = makers[m]();

		for (size_t bit = 0; bit < good.length * 8; bit++) {
			struct frame frame = good;

			frame.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			agrees(&port, &frame);
			agrees(&any_port, &frame);
		}
	}
}

static void a_frame_of_any_length_is_read_as_the_whole_parser_reads_it(void)
{
	for (size_t m = 0; m < MAKERS; m++) {
		struct frame frame = makers[m]();
		size_t whole = frame.length;

		for (frame.length = 0; frame.length < whole; frame.length++)
			CU_ASSERT_FALSE(agrees(&port, &frame));
	}
}

static void odd_values_in_any_byte_are_read_as_the_whole_parser_reads_them(void)
{
	static const uint8_t odd[] = {0, 1, 0x7f, 0xe0, 0xff, 0x45, 0x50, 0x60, 6, 17, 44, 132};
	uint32_t common = 0;

	for (int n = 0; n < 300000; n++) {
		struct frame frame = makers[random_next() % MAKERS]();

		for (uint64_t left = 1 + random_next() % 4; left; left--)
			frame.bytes[random_next() % 70] =
				random_next() % 2 ? (uint8_t)random_next()
						  : odd[random_next() % sizeof(odd)];
		common += agrees(random_next() % 4 ? &port : &any_port, &frame);
	}
	CU_ASSERT(common > 3000); /* or nothing was looked at */
}

static void every_source_that_no_client_has_is_left_to_the_whole_parser(void)
{
	static const uint8_t sources[][4] = {{127, 0, 0, 1}, {224, 0, 0, 1}, {239, 255, 255, 255},
		{0, 0, 0, 0}, {255, 255, 255, 255}, {203, 0, 113, 10}};

	for (size_t s = 0; s < sizeof(sources) / sizeof(sources[0]); s++) {
		struct frame frame = frame_v4();

		memcpy(frame.bytes + 26, sources[s], 4);
		CU_ASSERT_FALSE(agrees(&port, &frame));
	}
}

static void the_hash_of_words_is_the_librarys(void)
{
	for (int n = 0; n < 20000; n++) {
		uint64_t key[GW_KEY_WORDS], seed = n % 4 ? random_next() : (uint64_t)n / 4;
		struct gw_key_seed made;

		for (int w = 0; w < GW_KEY_WORDS; w++)
			key[w] = n % 3 || w % 2 ? random_next() : 0;
		gw_key_seed_set(&made, seed);
		CU_ASSERT_EQUAL(
			gw_key_hash(&made, key), XXH3_64bits_withSeed(key, sizeof(key), seed));
	}
}

static void random_address(struct gw_address *address, uint8_t family)
{
	uint64_t words[2] = {random_next(), random_next()};

	if (family == GW_IPV4)
		gw_address_set_ipv4(address, words);
	else
		memcpy(address->bytes, words, sizeof(words));
}

static void the_hash_of_either_familys_keys_is_the_librarys_at_any_affinity(void)
{
	for (int n = 0; n < 30000; n++) {
		union {
			uint64_t word[GW_KEY_WORDS];
			struct gw_flow_key key;
		} in = {.key = {.source_port = (uint16_t)random_next(),
				.destination_port = (uint16_t)random_next(),
				.protocol = (uint8_t)random_next()}};
		uint8_t family = n % 2 ? GW_IPV4 : GW_IPV6;
		uint64_t seed = n % 4 ? random_next() : (uint64_t)n / 4, wanted, open;
		struct gw_key_seed made;

		random_address(&in.key.source, family);
		random_address(&in.key.destination, family);
		gw_flow_key_reduce(&in.key, (uint8_t)(n % 3));
		gw_key_seed_set(&made, seed);
		wanted = XXH3_64bits_withSeed(&in.key, sizeof(in.key), seed);
		open = gw_key_hash_open(&made, family, in.word);
		CU_ASSERT_EQUAL(gw_key_hash_close(open), wanted);
		CU_ASSERT_EQUAL(gw_key_hash_close(wanted), open);
		CU_ASSERT_EQUAL(open >> 32, wanted >> 32);
	}
}

static void the_place_of_words_is_the_keys(void)
{
	for (int n = 0; n < 20000; n++) {
		union {
			uint64_t word[GW_KEY_WORDS];
			struct gw_flow_key key;
		} in;
		uint8_t family = n % 2 ? GW_IPV4 : GW_IPV6;
		uint64_t seed = random_next();
		struct gw_flow_secrets secrets = gw_flow_secrets(seed);
		struct gw_flow_place place, wanted;

		for (int w = 0; w < GW_KEY_WORDS; w++)
			in.word[w] = random_next();
		if (family == GW_IPV4) {
			gw_address_set_ipv4(&in.key.source, &in.word[0]);
			gw_address_set_ipv4(&in.key.destination, &in.word[2]);
		}
		place = gw_flow_place_of_sum(
			gw_key_sum(&secrets, family, in.word), in.key.protocol, 1000);
		wanted = gw_flow_place(&in.key, seed, 1000);
		CU_ASSERT_EQUAL(place.bucket, wanted.bucket);
		CU_ASSERT_EQUAL(place.tag, wanted.tag);
	}
}

/* Service 0 is TCP 80 on 203.0.113.10 and UDP 443 on 2001:db8:113::10; its one backend is
 * `backend`. */
static struct gw_engine *start(const struct gw_backend *backend, uint8_t affinity)
{
	static const uint32_t members[] = {0};
	static const struct image_pool pool = {
		.table_size = 65537, .members = members, .member_count = 1, .digest = 1};
	const struct gw_service service = {.pool = 0, .affinity = affinity};
	static const struct gw_span spans[] = {{80, 80, 0}, {443, 443, 0}};
	struct gw_vip vips[2] = {
		image_vip("203.0.113.10", 128), image_vip("2001:db8:113::10", 128)};
	struct gw_next_hop hop =
		image_next_hop(backend->family == GW_IPV4 ? "10.0.0.1" : "fd82::1");
	static uint64_t version;
	struct image_spec spec = {.version = ++version,
		.hash_seed = 7,
		.pools = &pool,
		.pool_count = 1,
		.services = &service,
		.service_count = 1,
		.vips = vips,
		.vip_count = 2,
		.spans = spans,
		.span_count = 2,
		.backends = backend,
		.backend_count = 1,
		.next_hops = &hop,
		.next_hop_count = 1};
	struct gw_engine *engine = harness_start(1024, 1);

	vips[0].tcp = (struct gw_span_run){0, 1};
	vips[1].udp = (struct gw_span_run){1, 1};
	harness_load(engine, &spec);
	return engine;
}

/* One segment takes the short roads, several never do: out of both comes the same frame. */
static void compare_roads(struct gw_engine *engine, const struct frame *frame, const char *what)
{
	uint8_t fast[2048], slow[2048];
	size_t fast_length, slow_length;
	struct gw_result one, other;

	harness_run(engine, harness_frame(engine, frame->bytes, frame->length, 1), NULL, NULL);
	one = harness_run(
		engine, harness_frame(engine, frame->bytes, frame->length, 1), fast, &fast_length);
	CU_ASSERT_EQUAL(engine->worker[0]->burst.common, 1);
	other = harness_run(
		engine, harness_frame(engine, frame->bytes, frame->length, 3), slow, &slow_length);
	CU_ASSERT_EQUAL(engine->worker[0]->burst.common, 0);
	CU_ASSERT_EQUAL(one.verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(one.hash, other.hash);
	CU_ASSERT_EQUAL(one.service, other.service);
	CU_ASSERT_EQUAL(one.backend, other.backend);
	CU_ASSERT_EQUAL(one.flow, other.flow);
	CU_ASSERT_EQUAL(fast_length, slow_length);
	if (fast_length != slow_length || memcmp(fast, slow, fast_length) != 0) {
		CU_FAIL("the roads differ");
		printf("\n  %s\n", what);
	}
}

static void both_roads_make_the_same_frame_in_every_mode(void)
{
	static const uint8_t overhead[2][3] = {{20, 28, 24}, {40, 48, 44}};

	for (int n = 0; n < 2 * 3 * 4; n++) {
		bool six = n % 2;
		uint8_t mode = (uint8_t)(n / 2 % 3);
		struct gw_backend backend = six ? image_backend(0, 0, "fd82::10", "fd82::101")
						: image_backend(0, 0, "10.0.0.16", "10.0.0.101");
		struct gw_engine *engine;
		struct frame frame;
		char what[64];

		backend.encap = mode;
		backend.overhead = overhead[six][mode];
		backend.gue_port = GW_HTONS(6080);
		backend.flags = (n / 6 & 1 ? GW_BACKEND_FLOW_LABEL : 0) |
				(n / 12 ? GW_BACKEND_GUE_CHECKSUM : 0);
		backend.source_bits = n / 6 & 1 ? 4 : 0;
		engine = start(&backend, GW_AFFINITY_5TUPLE);
		snprintf(what, sizeof(what), "mode %u, IPv%u, flags %u", mode, six ? 6 : 4,
			backend.flags);
		for (int padding = 0; padding < 2; padding++) {
			frame = frame_v4();
			frame.length += (size_t)padding * 5;
			compare_roads(engine, &frame, what);
			frame.bytes[20] = 0x40; /* DF */
			compare_roads(engine, &frame, what);
			frame = frame_v6();
			frame.length += (size_t)padding * 5;
			compare_roads(engine, &frame, what);
		}
		harness_stop(engine);
	}
}

/* The library's hash of the key that the affinity leaves (packets.md), of seed 7. */
static uint64_t key_hash(const struct frame *frame, bool six, uint8_t affinity)
{
	const uint8_t *ip = frame->bytes + FRAME_ETH, *ports = ip + (six ? 40 : 20);
	struct gw_flow_key key = {.protocol = six ? GW_PROTO_UDP : GW_PROTO_TCP};

	if (six)
		memcpy(key.source.bytes, ip + 8, 16);
	else
		gw_address_set_ipv4(&key.source, ip + 12);
	if (affinity == GW_AFFINITY_5TUPLE)
		memcpy(&key.source_port, ports, 2);
	if (affinity != GW_AFFINITY_SOURCE_IP) {
		if (six)
			memcpy(key.destination.bytes, ip + 24, 16);
		else
			gw_address_set_ipv4(&key.destination, ip + 16);
		memcpy(&key.destination_port, ports + 2, 2);
	}
	return XXH3_64bits_withSeed(&key, sizeof(key), 7);
}

/* The first packet of a flow has its hash from the choice of a backend, the second makes it. */
static void check_gue(
	struct gw_engine *engine, struct frame *frame, bool six, uint8_t affinity, bool outer_six)
{
	for (uint16_t source = 2000; source < 2040; source++) {
		uint64_t hash;

		frame_put16(frame, FRAME_ETH + (six ? 40 : 20), source);
		hash = key_hash(frame, six, affinity);
		for (int packet = 0; packet < 3; packet++) {
			size_t udp = FRAME_ETH + (outer_six ? 40 : 20), length;
			uint8_t out[2048];

			harness_run(engine, harness_frame(engine, frame->bytes, frame->length, 1),
				out, &length);
			CU_ASSERT_EQUAL(length, frame->length + udp + 8 - FRAME_ETH);
			CU_ASSERT_EQUAL(out[udp] << 8 | out[udp + 1], 0xc000 | hash >> 50);
			CU_ASSERT_EQUAL(out[udp + 2] << 8 | out[udp + 3], 6080);
			if (!six && !outer_six)
				CU_ASSERT_EQUAL(out[FRAME_ETH + 4] << 8 | out[FRAME_ETH + 5],
					(0x1234 ^ hash) & 0xffff);
		}
	}
}

static void gues_port_is_of_the_hash_of_the_key_at_any_affinity(void)
{
	for (uint8_t n = 0; n < 2 * 3; n++) {
		bool outer_six = n % 2;
		uint8_t affinity = n / 2;
		struct gw_backend backend =
			outer_six ? image_backend(0, 0, "fd82::10", "fd82::101")
				  : image_backend(0, 0, "10.0.0.16", "10.0.0.101");
		struct frame four = frame_v4(), six = frame_v6();
		struct gw_engine *engine;

		backend.encap = GW_ENCAP_GUE;
		backend.overhead = outer_six ? 48 : 28;
		backend.gue_port = GW_HTONS(6080);
		engine = start(&backend, affinity);
		check_gue(engine, &four, false, affinity, outer_six);
		check_gue(engine, &six, true, affinity, outer_six);
		harness_stop(engine);
	}
}

static const struct gw_test tests[] = {
	GW_TEST(whole_tcp_and_udp_of_both_families_are_common),
	GW_TEST(a_frame_with_any_bit_changed_is_read_as_the_whole_parser_reads_it),
	GW_TEST(a_frame_of_any_length_is_read_as_the_whole_parser_reads_it),
	GW_TEST(odd_values_in_any_byte_are_read_as_the_whole_parser_reads_them),
	GW_TEST(every_source_that_no_client_has_is_left_to_the_whole_parser),
	GW_TEST(the_hash_of_words_is_the_librarys),
	GW_TEST(the_hash_of_either_familys_keys_is_the_librarys_at_any_affinity),
	GW_TEST(the_place_of_words_is_the_keys),
	GW_TEST(both_roads_make_the_same_frame_in_every_mode),
	GW_TEST(gues_port_is_of_the_hash_of_the_key_at_any_affinity),
};

GW_SUITE("dp_common", tests)
