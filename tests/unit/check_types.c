/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes of each type against real servers on loopback: nginx with certificates made by openssl,
 * dnsmasq, Debian's gRPC, echo by the kernel. They are started once, in a network namespace of the
 * test's own so that nobody else has their ports, and end with the program.
 */
#include "base/address.h"
#include "control/check.h"
#include "control/check_dns.h"
#include "control/check_grpc.h"
#include "loop_run.h"
#include "suite.h"

#include <uv.h>

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* For servers that answer however slow the machine, and for those that never do. */
#define PATIENT_MS 20000
#define SHORT_MS   400
#define IN_TIME_MS (PATIENT_MS / 2)

#define FIRST_PORT 8001

enum { PORT_HTTP, PORT_HTTPS, PORT_DNS, PORT_GRPC, PORT_UDP, PORT_DRIP, PORT_CLOSED, PORTS };

static char dir[] = "/tmp/guideway-check-XXXXXX";
static char ca_file[64];
static uint16_t ports[PORTS];
static pid_t children[4];
static size_t child_count;
static int grpc_input = -1;

static uv_loop_t loop;
static struct gw_checker *checker;
static struct gw_check_outcome outcome;
static int answers;

static void network_make(void)
{
	CU_ASSERT_EQUAL_FATAL(unshare(CLONE_NEWNET), 0);
	CU_ASSERT_EQUAL_FATAL(system("ip link set lo up"), 0);
	for (int i = 0; i < PORTS; i++)
		ports[i] = (uint16_t)(FIRST_PORT + i);
}

static void file_write(const char *name, const char *format, ...)
{
	char path[128];
	va_list arguments;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	fclose(file);
}

static void command_run(const char *format, ...)
{
	char command[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
}

/* An authority, and a certificate for www.example.test and 127.0.0.1 signed by it. */
static void certificates_make(void)
{
	file_write("ext", "subjectAltName=DNS:www.example.test,IP:127.0.0.1\n");
	command_run("cd %s && (openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
		    "-nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca && "
		    "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "
		    "key.pem -out csr.pem -subj /CN=www.example.test && "
		    "openssl x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial "
		    "-days 2 -extfile ext -out cert.pem) >openssl.log 2>&1",
		dir);
	snprintf(ca_file, sizeof(ca_file), "%s/ca.pem", dir);
}

static void child_start(const char *const words[], int input)
{
	pid_t pid = fork();

	CU_ASSERT_FATAL(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (input >= 0)
			dup2(input, 0);
		execvp(words[0], (char *const *)words);
		_exit(127);
	}
	children[child_count++] = pid;
}

static void nginx_start(void)
{
	char conf[128];

	file_write("nginx.conf",
		"daemon off; master_process off; pid %s/nginx.pid; error_log %s/error.log;\n"
		"events {}\n"
		"http { access_log off; client_body_temp_path %s; proxy_temp_path %s;\n"
		" fastcgi_temp_path %s; uwsgi_temp_path %s; scgi_temp_path %s;\n"
		" server { listen 127.0.0.1:%u; location / { return 200 \"status: green\"; }\n"
		"  location /teapot { return 418; } }\n"
		" server { listen 127.0.0.1:%u ssl; ssl_certificate %s/cert.pem;\n"
		"  ssl_certificate_key %s/key.pem; return 200 \"sni=$ssl_server_name;\"; } }\n",
		dir, dir, dir, dir, dir, dir, dir, ports[PORT_HTTP], ports[PORT_HTTPS], dir, dir);
	snprintf(conf, sizeof(conf), "%s/nginx.conf", dir);
	child_start((const char *[]){"nginx", "-e", "stderr", "-c", conf, NULL}, -1);
}

static void dnsmasq_start(void)
{
	char port[16];

	snprintf(port, sizeof(port), "--port=%u", ports[PORT_DNS]);
	child_start((const char *[]){"dnsmasq", "-k", "-C", "/dev/null", port,
			    "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv",
			    "--no-hosts", "--user=root", "--local=/example.test/",
			    "--pid-file=", "--host-record=www.example.test,192.0.2.7,2001:db8::7",
			    "--mx-host=example.test,mail.example.test,5",
			    "--txt-record=txt.example.test,v=green",
			    "--cname=alias.example.test,www.example.test", NULL},
		-1);
}

static void python_start(void)
{
	char words[3][16];
	int ends[2], output[2];
	char ready[8] = "";
	int saved = dup(1);

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	CU_ASSERT_EQUAL_FATAL(pipe(output), 0);
	for (int i = 0; i < 3; i++)
		snprintf(words[i], sizeof(words[i]), "%u", ports[PORT_GRPC + i]);
	fflush(stdout);
	dup2(output[1], 1);
	child_start((const char *[]){"/usr/bin/python3", SOURCE_ROOT "/tests/unit/check_servers.py",
			    words[0], words[1], words[2], NULL},
		ends[0]);
	dup2(saved, 1);
	close(saved);
	close(ends[0]);
	close(output[1]);
	grpc_input = ends[1];
	for (size_t got = 0; got < 6;) {
		ssize_t more = read(output[0], ready + got, sizeof(ready) - 1 - got);

		CU_ASSERT_FATAL(more > 0);
		got += (size_t)more;
	}
	CU_ASSERT_STRING_EQUAL(ready, "ready\n");
	close(output[0]);
}

static void servers_stop(void)
{
	for (size_t i = 0; i < child_count; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	if (!ca_file[0])
		return;
	snprintf(ca_file, sizeof(ca_file), "rm -rf %s", dir);
	if (system(ca_file))
		fprintf(stderr, "cannot remove %s\n", dir);
}

static void answered(void *owner, const struct gw_check_outcome *result)
{
	outcome = *result;
	answers++;
	uv_stop(&loop);
}

static struct gw_config_range expect_2xx[] = {{200, 299}};
static uint16_t noerror[] = {0}, nxdomain[] = {3};

static struct gw_config_bytes bytes(const char *text)
{
	return (struct gw_config_bytes){.data = (const uint8_t *)text, .length = strlen(text)};
}

static void servers_begin(void);

static struct gw_config_check check_of(enum gw_config_check_type type, int port)
{
	if (!child_count)
		servers_begin();
	return (struct gw_config_check){
		.type = type,
		.port = ports[port],
		.timeout_ms = PATIENT_MS,
		.path = "/",
		.expect = expect_2xx,
		.expect_count = 1,
		.verify = true,
		.ca_file = ca_file,
		.query = "www.example.test",
		.query_type = 1,
		.rcodes = noerror,
		.rcode_count = 1,
	};
}

/* Runs one probe to its end; the time it took in milliseconds. */
static uint64_t probe_run(const struct gw_config_check *check, const char *address)
{
	struct gw_check_target target = {.check = check};
	struct gw_probe *probe = NULL;
	uint8_t to[16];
	uint64_t start = uv_hrtime(), took;
	int ret;

	gw_address_parse(address, to);
	target.address = to;
	answers = 0;
	memset(&outcome, 0, sizeof(outcome));
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(gw_checker_new(&loop, &checker), 0);
	ret = gw_check_ops_find(check->type)->start(checker, &target, answered, NULL, &probe);
	CU_ASSERT_EQUAL_FATAL(ret, 0);
	loop_run_for(&loop, 2 * PATIENT_MS);
	took = (uv_hrtime() - start) / 1000000;
	CU_ASSERT_EQUAL(answers, 1);
	gw_checker_free(checker);
	uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
	return took;
}

static bool text_has(const char *part)
{
	if (strstr(outcome.text, part))
		return true;
	printf("  the text is \"%s\"\n", outcome.text);
	return false;
}

/* Starts everything, then waits until nginx and dnsmasq answer. */
static void servers_begin(void)
{
	struct gw_config_check web, dns;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	atexit(servers_stop);
	network_make();
	certificates_make();
	nginx_start();
	dnsmasq_start();
	python_start();
	web = check_of(GW_CONFIG_CHECK_HTTP, PORT_HTTP);
	dns = check_of(GW_CONFIG_CHECK_DNS, PORT_DNS);
	for (uint64_t end = uv_hrtime() + LOOP_RUN_LIMIT_MS * 1000000ull; uv_hrtime() < end;) {
		probe_run(&web, "127.0.0.1");
		if (outcome.success)
			probe_run(&dns, "127.0.0.1");
		if (outcome.success)
			return;
		usleep(20000);
	}
	CU_FAIL_FATAL("nginx or dnsmasq does not answer");
}

static void http_body_is_matched(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_HTTP, PORT_HTTP);

	check.body = bytes("green");
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	CU_ASSERT_TRUE(text_has("http 200"));
	check.body = bytes("red");
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("lacks what is expected"));
	check.path = "/teapot";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("http 418"));
}

static void https_asks_for_the_name_and_verifies_it(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_HTTPS, PORT_HTTPS);

	check.sni = "www.example.test";
	check.body = bytes("sni=www.example.test;");
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	text_has("http 200");
	check.sni = "other.example.test";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("other.example.test"));
	/* The name of the Host header, when no other is given. */
	check.sni = NULL;
	check.host = "www.example.test:8443";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	/* By the address alone: in the certificate, but not sent. */
	check.host = NULL;
	check.body = bytes("sni=;");
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
}

static void https_refuses_an_authority_it_does_not_trust_unless_told(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_HTTPS, PORT_HTTPS);

	check.ca_file = NULL;
	check.sni = "www.example.test";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("certificate"));
	check.verify = false;
	check.sni = "any.example.test";
	check.body = bytes("sni=any.example.test;");
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	check.verify = true;
	check.ca_file = "/nonexistent/ca.pem";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
}

static void https_to_a_plain_server_or_a_drip_fails_in_time(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_HTTPS, PORT_HTTP);

	check.timeout_ms = SHORT_MS;
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	check.port = ports[PORT_DRIP];
	CU_ASSERT_TRUE(probe_run(&check, "127.0.0.1") < IN_TIME_MS);
	CU_ASSERT_FALSE(outcome.success);
}

static void udp_answer_is_what_is_expected(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_UDP, PORT_UDP);

	check.send = bytes("ping");
	check.receive = bytes("pong");
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	check.send = bytes("else");
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("lacks"));
	check.receive = (struct gw_config_bytes){0};
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	check.send = (struct gw_config_bytes){0}; /* an empty datagram comes back empty */
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
}

static void udp_silence_fails_in_time_and_a_closed_port_at_once(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_UDP, PORT_UDP);
	uint64_t took;

	check.send = bytes("mute");
	check.timeout_ms = SHORT_MS;
	took = probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(took >= SHORT_MS - 20 && took < IN_TIME_MS);
	CU_ASSERT_TRUE(text_has("no answer in 400 ms"));
	check.port = ports[PORT_CLOSED];
	check.timeout_ms = PATIENT_MS;
	CU_ASSERT_TRUE(probe_run(&check, "127.0.0.1") < IN_TIME_MS);
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("refused"));
}

static void dns_answers_are_judged_by_code_and_record(void)
{
	static const struct {
		const char *query, *answer;
		uint16_t type;
		bool success;
	} cases[] = {
		{"www.example.test", NULL, 1, true},
		{"WWW.example.test.", "192.0.2.7", 1, true},
		{"www.example.test", "192.0.2.8", 1, false},
		{"www.example.test", "2001:db8::7", 28, true},
		{"example.test", "mail.example.test", 15, true},
		{"example.test", "MAIL.example.test.", 15, true},
		{"example.test", "other.example.test", 15, false},
		{"txt.example.test", "green", 16, true},
		{"txt.example.test", "red", 16, false},
		{"alias.example.test", "192.0.2.7", 1, true}, /* beside a CNAME */
		{"none.example.test", NULL, 1, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gw_config_check check = check_of(GW_CONFIG_CHECK_DNS, PORT_DNS);

		check.query = cases[i].query;
		check.answer = cases[i].answer;
		check.query_type = cases[i].type;
		probe_run(&check, "127.0.0.1");
		CU_ASSERT_EQUAL(outcome.success, cases[i].success);
		if (outcome.success != cases[i].success)
			printf("  %s: %s\n", check.query, outcome.text);
	}
	CU_ASSERT_TRUE(text_has("NXDOMAIN"));
}

static void dns_may_expect_another_code(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_DNS, PORT_DNS);

	check.query = "none.example.test";
	check.rcodes = nxdomain;
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	check.query = "www.example.test";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	/* A server that echoes the question says nothing: that is no answer. */
	check.port = ports[PORT_UDP];
	check.timeout_ms = SHORT_MS;
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("no answer"));
}

/* The query of www.example.test, and an answer with one record whose name is a pointer. */
static const uint8_t answer_head[] = {0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0};

static bool judge(const uint8_t *tail, size_t size, struct gw_check_outcome *result)
{
	const struct gw_config_check check = check_of(GW_CONFIG_CHECK_DNS, PORT_DNS);
	uint8_t query[GW_DNS_QUERY_MAX], message[512];
	size_t length = gw_dns_query_make(&check, 0x1234, query);

	memcpy(message, query, length);
	memcpy(message, answer_head, sizeof(answer_head));
	memcpy(message + length, tail, size);
	return gw_dns_answer_judge(&check, query, length, message, length + size, result);
}

static void dns_messages_out_of_shape_are_malformed(void)
{
	static const uint8_t good[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 7};
	static const uint8_t forward[] = {0xc0, 60, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 7};
	struct gw_check_outcome result = {0};

	CU_ASSERT_TRUE(judge(good, sizeof(good), &result));
	CU_ASSERT_TRUE(result.success);
	/* Cut anywhere, and a pointer that leads forward. */
	for (size_t i = 0; i < sizeof(good); i++) {
		CU_ASSERT_TRUE(judge(good, i, &result));
		CU_ASSERT_FALSE(result.success);
		CU_ASSERT_STRING_EQUAL(result.text, "malformed answer");
	}
	CU_ASSERT_TRUE(judge(forward, sizeof(forward), &result));
	CU_ASSERT_FALSE(result.success);
}

static void icmp_echoes_come_back_from_both_families(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_ICMP, PORT_CLOSED);

	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	CU_ASSERT_TRUE(text_has("echoed"));
	probe_run(&check, "::1");
	CU_ASSERT_TRUE(outcome.success);
}

static void grpc_health_is_asked_by_service(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_GRPC, PORT_GRPC);

	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	CU_ASSERT_TRUE(text_has("grpc SERVING"));
	check.grpc_service = "good";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	check.grpc_service = "bad";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("grpc NOT_SERVING"));
	check.grpc_service = "absent";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("NOT_FOUND"));
	check.grpc_service = "garbage";
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(text_has("malformed"));
}

static void grpc_to_what_speaks_no_http2_fails_in_time(void)
{
	struct gw_config_check check = check_of(GW_CONFIG_CHECK_GRPC, PORT_HTTP);

	check.timeout_ms = SHORT_MS;
	CU_ASSERT_TRUE(probe_run(&check, "127.0.0.1") < IN_TIME_MS);
	CU_ASSERT_FALSE(outcome.success);
	check.port = ports[PORT_DRIP];
	CU_ASSERT_TRUE(probe_run(&check, "127.0.0.1") < IN_TIME_MS);
	CU_ASSERT_FALSE(outcome.success);
}

static void grpc_frames_are_as_the_protocol_says(void)
{
	static const uint8_t named[] = {0, 0, 0, 0, 6, 0x0a, 4, 'n', 'a', 'm', 'e'};
	static const uint8_t serving[] = {0, 0, 0, 0, 2, 8, 1};
	static const uint8_t unknown_fields[] = {
		0, 0, 0, 0, 14, 0x12, 1, 'x', 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 8, 2};
	uint8_t frame[GW_GRPC_REQUEST_MAX], longest[256];
	uint64_t status = 99;

	CU_ASSERT_EQUAL_FATAL(gw_grpc_request_make("name", frame), sizeof(named));
	CU_ASSERT_EQUAL(memcmp(frame, named, sizeof(named)), 0);
	CU_ASSERT_EQUAL(gw_grpc_request_make(NULL, frame), 5);
	memset(longest, 'x', 255);
	longest[255] = '\0';
	CU_ASSERT_EQUAL(gw_grpc_request_make((char *)longest, frame), 5 + 3 + 255);
	CU_ASSERT_EQUAL(frame[6], 0xff); /* 255 = 0xff 0x01 as a varint */
	CU_ASSERT_EQUAL(frame[7], 0x01);
	CU_ASSERT_EQUAL(gw_grpc_status_read(serving, sizeof(serving), &status), 0);
	CU_ASSERT_EQUAL(status, 1);
	CU_ASSERT_EQUAL(gw_grpc_status_read(serving, 5 + 0, &status), -EBADMSG);
	CU_ASSERT_EQUAL(gw_grpc_status_read(serving, sizeof(serving) - 1, &status), -EBADMSG);
	CU_ASSERT_EQUAL(status, 1);
	CU_ASSERT_EQUAL(gw_grpc_status_read(unknown_fields, sizeof(unknown_fields), &status), 0);
	CU_ASSERT_EQUAL(status, 2);
}

static const struct gw_test tests[] = {
	GW_TEST(http_body_is_matched),
	GW_TEST(https_asks_for_the_name_and_verifies_it),
	GW_TEST(https_refuses_an_authority_it_does_not_trust_unless_told),
	GW_TEST(https_to_a_plain_server_or_a_drip_fails_in_time),
	GW_TEST(udp_answer_is_what_is_expected),
	GW_TEST(udp_silence_fails_in_time_and_a_closed_port_at_once),
	GW_TEST(dns_answers_are_judged_by_code_and_record),
	GW_TEST(dns_may_expect_another_code),
	GW_TEST(dns_messages_out_of_shape_are_malformed),
	GW_TEST(icmp_echoes_come_back_from_both_families),
	GW_TEST(grpc_health_is_asked_by_service),
	GW_TEST(grpc_to_what_speaks_no_http2_fails_in_time),
	GW_TEST(grpc_frames_are_as_the_protocol_says),
};

GW_SUITE("check types", tests)
