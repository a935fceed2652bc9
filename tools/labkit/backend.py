# SPDX-License-Identifier: BSD-2-Clause
"""The backend's web server: nginx, answering with the backend's name."""

import os

# One process, so that one pid is the whole server. Requests to `/` of one connection may go on for as
# long as an experiment lasts; /slow is a download that takes minutes.
NGINX = """\
daemon off;
master_process off;
user root;
worker_processes 1;
worker_rlimit_nofile 65536;
pid nginx.pid;
error_log error.log warn;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    default_type text/plain;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
    client_max_body_size 64m;
    client_body_temp_path tmp;
    proxy_temp_path tmp;
    fastcgi_temp_path tmp;
    scgi_temp_path tmp;
    uwsgi_temp_path tmp;
    server {{
{listens}
        add_header X-Backend {name};
        location / {{ return 200 "{name}\\n"; }}
        location = /healthz {{ return 200 "ok {name}\\n"; }}
        location = /requests {{ stub_status; }}
        location = /big {{ root files; }}
        location = /slow {{ root files; limit_rate 16k; }}
    }}
}}
"""
BIG = 1 << 20


def nginx_prepare(folder, name, ports):
    """Writes nginx's folder; what listens is every address of the namespace, on these ports."""
    for sub in ("tmp", "files"):
        os.makedirs(f"{folder}/{sub}", exist_ok=True)
    listens = "\n".join(
        f"        listen {port} backlog=4096; listen [::]:{port} ipv6only=on backlog=4096;" for port in ports
    )
    with open(f"{folder}/nginx.conf", "w", encoding="utf-8") as stream:
        stream.write(NGINX.format(name=name, listens=listens))
    with open(f"{folder}/files/big", "wb") as stream:
        stream.write((name.encode() + b"\n").ljust(64, b".") * (BIG // 64))
    if not os.path.exists(f"{folder}/files/slow"):
        os.link(f"{folder}/files/big", f"{folder}/files/slow")
