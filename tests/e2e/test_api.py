# SPDX-License-Identifier: BSD-2-Clause
"""The API as programs use it, and as those who mean no good do: doors, tokens, tags, limits, audit."""

import json
import os
import socket
import stat
import subprocess
import time

import jsonschema
import pytest
from labkit import process

from conftest import BUILD, ROOT
from daemon import Daemon, curl

DRAIN = {"action": "drain"}
B1 = "/v1/backends/web/b1"


def certificate_make(folder, days=30):
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", str(days)]
    command += ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True)
    os.chmod(f"{folder}/key.pem", 0o600)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    """With every door open."""
    made = Daemon(tmp_path_factory.mktemp("api"))
    certificate_make(made.folder)
    made.document["api"]["tcp"] = {
        "listen": f"127.0.0.1:{made.port}",
        "certificate": f"{made.folder}/cert.pem",
        "key": f"{made.folder}/key.pem",
        "tokens": [made.token_make("mon", scope="view"), made.token_make("deploy", scope="drain", pools=["web"]), made.token_make("ops", scope="admin")],
    }
    made.start()
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def as_before(daemon):
    """No test leaves an override, or a daemon that does not answer."""
    yield
    daemon.call("/v1/overrides/clear", {})
    assert daemon.call("/v1/status").json["config"]["valid"], daemon.log()


# --- what it answers


def resolve(schema, document):
    return jsonschema.Draft202012Validator({**schema, "components": document["components"]})


def test_answers_have_the_shape_that_the_document_promises(daemon):
    with open(f"{ROOT}/docs/openapi.json", encoding="utf-8") as stream:
        document = json.load(stream)
    daemon.call(B1, {**DRAIN, "reason": "for the shape"})
    flow = "tcp%20198.51.100.7:40000%20203.0.113.10:80"
    queries = {"/v1/lookup": f"?flow={flow}", "/v1/pools/{pool}/table": "?full=1", "/v1/backends": "?pool=web"}
    words = {"{pool}": "web", "{backend}": "b1", "{service}": "web"}
    checked = 0
    for path, operations in document["paths"].items():
        if "get" not in operations:
            continue
        url = path
        for word, value in words.items():
            url = url.replace(word, value)
        answer = daemon.call(url + queries.get(path, ""))
        response = operations["get"]["responses"].get(str(answer.status))
        assert response, f"{url}: {answer.status} {answer.body} is not in the document"
        if "$ref" in response:
            response = document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
        errors = list(resolve(response["content"]["application/json"]["schema"], document).iter_errors(answer.json))
        assert not errors, f"{url}: {errors[0].message}"
        checked += answer.status == 200
    assert checked >= 13  # the others need a datapath


WRONG_BODIES = [
    ("", 400, '"action" is missing'),
    ("{", 400, "is no JSON"),
    ("[]", 400, "must be a JSON object"),
    ("3", 400, ""),
    ('{"action": "drain", "action": "drain"}', 400, "duplicate"),
    ('{"action": 7}', 400, '"action" is 7'),
    ('{"action": null}', 400, '"action" is null'),
    ('{"action": "explode"}', 400, '"action" is "explode"'),
    ('{"action": "weight"}', 400, '"weight" is missing'),
    ('{"action": "weight", "weight": "3"}', 400, '"weight" is "3"'),
    ('{"action": "weight", "weight": 1.5}', 400, '"weight" is 1.5'),
    ('{"action": "weight", "weight": -1}', 400, '"weight" is -1'),
    ('{"action": "weight", "weight": 4294967296}', 400, '"weight" is 4294967296'),
    ('{"action": "weight", "weight": 99999999999999999999}', 400, "too big"),
    ('{"action": "drain", "weight": 3}', 400, '"weight" has no meaning'),
    ('{"action": "drain", "reason": ["x"]}', 400, '"reason" is ["x"]'),
    ('{"action": "drain", "reason": "a\\nb"}', 400, "control character"),
    (json.dumps({"action": "drain", "reason": "x" * 128}), 400, '"reason" has 128 bytes'),
    ('{"action": "drain", "resaon": "x"}', 400, '"resaon" is not known'),
    ('{"action": ' + "[" * 60 + "]" * 60 + "}", 400, "nested"),
    ('{"action": "drain"} x', 400, "is no JSON"),
]


@pytest.mark.parametrize("body, status, quoted", WRONG_BODIES)
def test_a_wrong_body_is_refused_by_name_and_changes_nothing(daemon, body, status, quoted):
    before = daemon.call(B1).headers["etag"]
    answer = daemon.call(B1, body)
    assert answer.status == status
    assert quoted in answer.json["error"]
    assert daemon.call(B1).headers["etag"] == before


@pytest.mark.parametrize("path", ["/v1/overrides/clear", "/v1/config/reload"])
@pytest.mark.parametrize("body", ["[]", '"x"', "17", '{"pool": 3}', "{}}", "nonsense"])
def test_writes_without_fields_take_an_empty_object_only(daemon, path, body):
    version = daemon.call("/v1/status").json["snapshot"]["built"]
    assert daemon.call(path, body).status == 400
    assert daemon.call("/v1/status").json["snapshot"]["built"] == version


def test_bytes_that_are_no_text_are_answered_with_400(daemon):
    answer = curl("--unix-socket", f"{daemon.folder}/control.sock", "--data-binary", "@-", f"http://g{B1}", stdin=b'{"action": "\xff\xfe"}')
    assert answer.status == 400
    assert daemon.call("/v1/backends/web/%ff%fe", DRAIN).status == 404
    assert daemon.call("/v1/events").status == 200


@pytest.mark.parametrize("path, status", [("/v1/status?x=1", 400), ("/v1/events?since=x", 400), ("/v1/backends?pool=no", 404), ("/v1/nothing", 404), ("/", 404), ("/v1/lookup", 400), ("/v1/lookup?flow=x", 400), ("/v1/drops", 503), ("/v1//status", 404)])
def test_a_bad_question_is_told_apart(daemon, path, status):
    answer = daemon.call(path)
    assert answer.status == status
    assert answer.json["error"]


def test_a_method_that_is_not_there_names_those_that_are(daemon):
    answer = daemon.call(B1, None, "-X", "DELETE")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD, POST")
    answer = daemon.call("/v1/overrides/clear")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_head_is_get_without_the_body(daemon):
    answer = daemon.call("/v1/overrides", None, "-I")
    assert (answer.status, answer.body) == (200, "")
    assert answer.headers["etag"] == daemon.call("/v1/overrides").headers["etag"]


# --- who may do what


def test_the_reading_socket_shows_everything_and_changes_nothing(daemon):
    assert daemon.call("/v1/status", sock="read.sock").status == 200
    for path, body in ((B1, DRAIN), ("/v1/overrides/clear", {}), ("/v1/config/reload", {}), ("/v1/node", DRAIN)):
        assert daemon.call(path, body, sock="read.sock").status == 403
    assert daemon.call("/v1/overrides").json == []


def test_sockets_have_modes_and_groups_of_the_file_and_a_reload_changes_modes(daemon):
    def info(name):
        status = os.stat(f"{daemon.folder}/{name}")
        return stat.S_IMODE(status.st_mode), status.st_gid

    assert (info("control.sock"), info("read.sock")) == ((0o660, 0), (0o666, 1))
    daemon.document["api"]["mode"] = "0600"
    assert reload_with(daemon).status == 200
    assert info("control.sock") == (0o600, 0)
    daemon.document["api"]["group"] = "no-such-group"
    answer = reload_with(daemon)
    assert answer.status == 422 and 'api.unix: there is no group "no-such-group"' in answer.json["errors"][0]
    del daemon.document["api"]["mode"], daemon.document["api"]["group"]
    assert reload_with(daemon).status == 200
    assert info("control.sock") == (0o660, 0)


def test_the_kernel_keeps_others_from_the_control_socket(daemon):
    os.chmod(daemon.folder, 0o711)
    os.chmod(os.path.dirname(daemon.folder), 0o711)
    command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"]
    done = subprocess.run([*command, "--unix-socket", f"{daemon.folder}/control.sock", "http://g/v1/status"], capture_output=True, text=True, check=False)
    assert done.stdout == "000"


SCOPES = [
    ("mon", "/v1/status", None, 200),
    ("mon", B1, DRAIN, 403),
    ("mon", "/v1/overrides/clear", {}, 403),
    ("mon", "/v1/config/reload", {}, 403),
    ("deploy", "/v1/config", None, 200),
    ("deploy", B1, DRAIN, 200),
    ("deploy", B1, {"action": "enable"}, 200),
    ("deploy", B1, {"action": "disable"}, 403),
    ("deploy", B1, {"action": "clear"}, 403),
    ("deploy", B1, {"action": "weight", "weight": 5}, 403),
    ("deploy", "/v1/backends/dns/b1", DRAIN, 403),
    ("deploy", "/v1/node", DRAIN, 403),
    ("deploy", "/v1/overrides/clear", {}, 403),
    ("ops", "/v1/backends/dns/b1", {"action": "weight", "weight": 5}, 200),
    ("ops", "/v1/overrides/clear", {}, 200),
    ("x" * 64, "/v1/status", None, 401),
    ("x", B1, DRAIN, 401),
    (None, "/v1/status", None, 401),
    (None, "/v1/nothing", None, 401),
]


@pytest.mark.parametrize("token, path, body, status", SCOPES)
def test_a_token_is_good_for_its_scope(daemon, token, path, body, status):
    answer = daemon.tcp(path, token, body)
    assert answer.status == status, answer.body
    if status == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "web" not in answer.body


def test_a_drain_token_does_not_undo_what_was_disabled(daemon):
    daemon.call(B1, {"action": "disable"})
    for action in ("enable", "drain"):
        answer = daemon.tcp(B1, "deploy", {"action": action})
        assert answer.status == 403 and "disabled" in answer.json["error"]
    assert daemon.call(B1).json["state"] == "disabled"


def test_other_ways_to_show_a_token_are_none(daemon):
    token = daemon.tokens["ops"]
    for header in (f"Authorization: Basic {token}", f"Authorization: {token}", f"Authorization: Bearer {token}x", f"Authorization: Bearer {token[:-1]}", f"Cookie: token={token}"):
        assert daemon.tcp("/v1/status", None, None, "-H", header).status == 401
    assert daemon.tcp("/v1/status", None, None, "-H", f"authorization: bearer  {token}").status == 200


def test_the_tcp_door_speaks_nothing_but_tls(daemon):
    done = subprocess.run(["curl", "-s", "--max-time", "5", f"http://localhost:{daemon.port}/v1/status"], capture_output=True, check=False)
    assert done.returncode != 0 and done.stdout == b""
    done = subprocess.run(["curl", "-s", "--max-time", "5", "--tls-max", "1.1", "--cacert", f"{daemon.folder}/cert.pem", f"https://localhost:{daemon.port}/v1/status"], capture_output=True, check=False)
    assert done.returncode != 0


def test_secrets_are_in_no_answer_and_no_log(daemon):
    daemon.tcp(B1, "ops", DRAIN)
    daemon.tcp("/v1/status", "y" * 64)
    told = daemon.log() + daemon.call("/v1/config").body + daemon.call("/v1/events").body + daemon.call("/v1/status").body
    with open(f"/proc/{daemon.child.pid}/cmdline", encoding="utf-8") as stream:
        told += stream.read()
    with open(f"/proc/{daemon.child.pid}/environ", encoding="utf-8") as stream:
        told += stream.read()
    for secret in [*daemon.tokens.values(), "y" * 64]:
        assert secret not in told


# --- what a reload does to it


def reload_with(daemon):
    daemon.write()
    return daemon.call("/v1/config/reload", {})


def test_a_reload_reads_tokens_again(daemon):
    old = daemon.tokens["mon"]
    daemon.token_make("mon")
    assert daemon.tcp("/v1/status", old).status == 200
    assert daemon.call("/v1/config/reload", {}).status == 200
    assert daemon.tcp("/v1/status", old).status == 401
    assert daemon.tcp("/v1/status", "mon").status == 200


def test_a_token_file_that_everybody_may_read_refuses_the_reload(daemon):
    path = f"{daemon.folder}/mon.token"
    os.chmod(path, 0o644)
    answer = daemon.call("/v1/config/reload", {})
    assert answer.status == 422 and "not readable by others" in answer.json["errors"][0]
    assert daemon.tcp("/v1/status", "mon").status == 200
    os.chmod(path, 0o600)
    assert daemon.call("/v1/config/reload", {}).status == 200


def test_a_reload_takes_a_new_certificate_and_refuses_a_wrong_key(daemon):
    def served():
        command = ["openssl", "s_client", "-connect", f"localhost:{daemon.port}"]
        return subprocess.run(command, input=b"", capture_output=True, check=False).stdout.decode().split("-----BEGIN")[1].split("-----END")[0]

    before = served()
    with open(f"{daemon.folder}/key.pem", encoding="utf-8") as stream:
        old_key = stream.read()
    certificate_make(daemon.folder)
    with open(f"{daemon.folder}/key.pem", encoding="utf-8") as stream:
        new_key = stream.read()
    with open(f"{daemon.folder}/key.pem", "w", encoding="utf-8") as stream:
        stream.write(old_key)
    answer = daemon.call("/v1/config/reload", {})
    assert answer.status == 422 and "no certificate with its key" in answer.json["errors"][0]
    assert served() == before
    with open(f"{daemon.folder}/key.pem", "w", encoding="utf-8") as stream:
        stream.write(new_key)
    assert daemon.call("/v1/config/reload", {}).status == 200
    assert served() != before
    assert daemon.tcp("/v1/status", "mon").status == 200


def test_a_reload_over_tcp_that_moves_the_listener_is_answered(daemon):
    old = daemon.port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        daemon.document["api"]["tcp"]["listen"] = f"127.0.0.1:{taken.getsockname()[1]}"
        answer = reload_with(daemon)
        assert answer.status == 422 and "api.tcp.listen: cannot listen at" in answer.json["errors"][0]
        assert daemon.tcp("/v1/status", "mon").status == 200
        port = taken.getsockname()[1]
    daemon.write()
    assert daemon.tcp("/v1/config/reload", "ops", {}).status == 200
    daemon.port = port
    assert daemon.tcp("/v1/status", "mon").status == 200
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", old), 2)


# --- tags


def test_a_change_with_an_old_tag_is_refused_and_with_the_present_one_done(daemon):
    tag = daemon.call(B1).headers["etag"]
    changed = daemon.call(B1, DRAIN, "-H", f"If-Match: {tag}")
    assert changed.status == 200 and changed.headers["etag"] != tag
    late = daemon.call(B1, {"action": "enable"}, "-H", f"If-Match: {tag}")
    assert late.status == 412 and late.headers["etag"] == changed.headers["etag"]
    assert daemon.call(B1).json["state"] == "drain"
    assert daemon.call(B1, {"action": "clear"}, "-H", f'If-Match: "x", {changed.headers["etag"]}').status == 200
    assert daemon.call(B1).headers["etag"] == tag


@pytest.mark.parametrize("header, status", [("*", 200), ('W/"0123456789abcdef"', 412), ('"never"', 412), ("never", 400), ('"open', 400), ("", 200)])
def test_if_match_is_read_as_http_says(daemon, header, status):
    assert daemon.call(B1, DRAIN, "-H", f"If-Match: {header}").status == status


def test_a_weak_tag_never_matches(daemon):
    tag = daemon.call(B1).headers["etag"]
    assert daemon.call(B1, DRAIN, "-H", f"If-Match: W/{tag}").status == 412


def test_the_configurations_tag_guards_a_reload(daemon):
    tag = daemon.call("/v1/config").headers["etag"]
    assert daemon.call("/v1/config/reload", {}, "-H", f"If-Match: {tag}").headers["etag"] == tag
    daemon.document["pools"][0]["drain_timeout"] = "7m"
    assert reload_with(daemon).status == 200
    assert daemon.call("/v1/config/reload", {}, "-H", f"If-Match: {tag}").status == 412
    del daemon.document["pools"][0]["drain_timeout"]
    assert reload_with(daemon).headers["etag"] == tag


def test_the_overrides_tag_guards_their_end(daemon):
    tag = daemon.call("/v1/overrides").headers["etag"]
    daemon.call(B1, DRAIN)
    assert daemon.call("/v1/overrides/clear", {}, "-H", f"If-Match: {tag}").status == 412
    assert len(daemon.call("/v1/overrides").json) == 1


# --- audit


def test_each_change_is_told_with_who_what_and_the_version_it_led_to(daemon):
    number = daemon.call("/v1/events").json["next"]
    daemon.call(B1, {**DRAIN, "reason": "disk"})
    version = daemon.call("/v1/status").json["snapshot"]["built"]
    daemon.tcp(B1, "deploy", {"action": "enable"})
    daemon.tcp(B1, "mon", {"action": "enable"})
    told = [one for one in daemon.audits() if one["number"] >= number]
    assert [(one["subject"], one["to"]) for one in told] == [(f"POST {B1}", "200"), (f"POST {B1}", "200"), (f"POST {B1}", "403")]
    assert told[0]["why"].startswith(f"root (uid 0), version {version}: ") and "disk" in told[0]["why"]
    assert told[1]["why"].startswith("token deploy (127.0.0.1:") and f"version {version + 1}" in told[1]["why"]
    assert told[2]["why"].startswith("token mon (127.0.0.1:")
    log = daemon.log()
    for one in told:
        assert f"audit {one['subject']}: {one['to']}: {one['why']}" in log
    daemon.call("/v1/status")
    assert len(daemon.audits()) == len([one for one in daemon.audits() if one["number"] < number]) + 3


# --- limits


def raw(daemon, data, sock="control.sock", patience=60.0):
    """Sends bytes, ends, and returns what came."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(patience)
        peer.connect(f"{daemon.folder}/{sock}")
        try:
            peer.sendall(data)
            time.sleep(0.05)  # what comes at once with the end is noticed by the silence only
            peer.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, OSError):
            pass
        answer = b""
        try:
            while chunk := peer.recv(65536):
                answer += chunk
        except ConnectionResetError:
            pass
        return answer


def test_bodies_beyond_the_routes_limit_are_refused(daemon):
    assert curl("--unix-socket", f"{daemon.folder}/control.sock", "--data-binary", "@-", f"http://g{B1}", stdin=b" " * 65537).status == 413
    assert curl("--unix-socket", f"{daemon.folder}/control.sock", "--data-binary", "@-", "http://g/v1/config/plan", stdin=b"#" * (8 << 20) + b"#").status == 413
    assert curl("--unix-socket", f"{daemon.folder}/control.sock", "--data-binary", "@-", "http://g/v1/config/plan", stdin=b"#" * (1 << 20)).status == 422


@pytest.mark.parametrize(
    "data, status",
    [
        (b"\x00" * 100, b""),
        (b"GET\r\n\r\n", b""),
        (b"GET / HTTP/9.9\r\n\r\n", b""),
        (b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: g\r\n\r\n", b"414"),
        (b"GET /v1/status HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n", b"431"),
        (b"POST /v1/node HTTP/1.1\r\nHost: g\r\nContent-Length: 99999999999999999999\r\n\r\n{}", b""),
        (b"POST /v1/node HTTP/1.1\r\nHost: g\r\nContent-Length: -1\r\n\r\n{}", b""),
        (b"POST /v1/node HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b""),
        (b"POST /v1/node HTTP/1.1\r\nHost: g\r\nContent-Length: 50\r\n\r\n{\"act", b""),
        (b"GET /v1/sta", b""),
        (b"", b""),
    ],
    ids=lambda value: value[:24].decode("latin-1").replace("\r\n", " ").replace("\0", "0") if len(value) > 3 else "",
)
def test_broken_and_truncated_requests_leave_it_unharmed(daemon, data, status):
    answer = raw(daemon, data)
    assert not answer or answer.startswith(b"HTTP/1.1 4") or answer.startswith(b"HTTP/1.0 4") or answer.startswith(b"HTTP/1.1 505"), answer[:100]
    if status:
        assert status in answer[:20]
    assert daemon.call("/v1/status").status == 200


def test_a_crowd_at_one_door_keeps_nobody_from_the_others(daemon):
    crowd = []
    for _ in range(80):
        peer = socket.socket(socket.AF_UNIX)
        peer.setblocking(False)
        try:
            peer.connect(f"{daemon.folder}/read.sock")
            peer.send(b"GET /v1/status HTTP/1.1\r\n")
        except BlockingIOError:
            pass
        crowd.append(peer)
    assert daemon.call("/v1/status").status == 200
    assert daemon.tcp("/v1/status", "mon").status == 200
    for peer in crowd:
        peer.close()
    assert daemon.call("/v1/status", sock="read.sock").status == 200


def test_one_address_gets_a_part_of_the_tcp_doors_connections(daemon):
    crowd = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(30)]

    def open_ones():
        count = 0
        for peer in crowd:
            peer.setblocking(False)
            try:
                count += peer.recv(1) != b""
            except BlockingIOError:
                count += 1
            except ConnectionResetError:
                pass
        return count

    process.wait_for("those beyond 16 to be closed", lambda: open_ones() <= 16)
    for peer in crowd:
        peer.close()
    process.wait_for("room", lambda: subprocess.run(["curl", "-s", "-k", f"https://127.0.0.1:{daemon.port}/"], capture_output=True, check=False).returncode == 0)


@pytest.mark.skipif(not os.environ.get("GUIDEWAY_CHECK_FULL"), reason="waits for 45 seconds")
def test_slow_and_silent_peers_are_cut(daemon):
    slow, silent = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    for peer in (slow, silent):
        peer.connect(f"{daemon.folder}/control.sock")
        peer.send(b"GET /v1/status HTTP/1.1\r\nX: ")
    begun = time.monotonic()
    ends = {}
    while len(ends) < 2 and time.monotonic() < begun + 45:
        for name, peer in (("slow", slow), ("silent", silent)):
            if name in ends:
                continue
            peer.settimeout(0.5)
            try:
                if name == "slow":
                    peer.send(b"y")
                if peer.recv(1000) == b"":
                    ends[name] = time.monotonic() - begun
            except socket.timeout:
                pass
            except OSError:
                ends[name] = time.monotonic() - begun
    assert 9 <= ends["silent"] <= 16
    assert 29 <= ends["slow"] <= 40


def test_the_clis_verbs_work_through_the_reading_socket(daemon):
    guideway = process.program_find(BUILD, "guideway")
    assert subprocess.run([guideway, "status", "--socket", f"{daemon.folder}/read.sock"], capture_output=True, check=False).returncode == 0
    refused = subprocess.run([guideway, "backend", "drain", "web/b1", "--socket", f"{daemon.folder}/read.sock"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "for reading only" in refused.stderr
