# SPDX-License-Identifier: BSD-2-Clause
"""
Debian's kernel in qemu, by emulation, so that it needs no KVM and no module of the host's. The package is taken
from apt and unpacked into a folder of the build, never installed; an initramfs holds busybox, the kernel's modules,
programs of the host with their libraries, and what the caller adds. `init` runs in it and reports by a virtio port.
"""

import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
META = "linux-image-amd64"
SECONDS = 1800
MODULES = (
    "virtio_pci", "virtio_console", "tun", "veth", "ipip", "sit", "ip6_tunnel", "fou", "fou6", "ip_gre", "ip6_gre",
    "sch_ingress", "cls_bpf",
)  # fmt: skip
WANTED = (
    "./boot/vmlinuz-*",
    *(f"./lib/modules/*/kernel/{folder}*" for folder in (
        "drivers/virtio/", "drivers/char/virtio", "drivers/net/tun.", "drivers/net/veth.", "net/ipv4/", "net/ipv6/",
        "net/sched/", "net/802/", "net/llc/",
    )),
)  # fmt: skip
APPLETS = "sh mount mkdir insmod uname cat echo grep sed tail poweroff sleep"


class NotAvailable(Exception):
    """The kernel cannot be had: no network, no apt."""


def _run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)
    if done.returncode:
        raise NotAvailable(f"{' '.join(map(str, command))}: {done.stderr.decode(errors='replace').strip()[-400:]}")
    return done.stdout


def _package():
    """The package that META stands for now, like linux-image-6.1.0-57-amd64."""
    command = ["apt-cache", "depends", "--no-suggests", META]
    for attempt in range(2):
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL, check=False)
        found = re.search(r"Depends: (linux-image-\d\S+)", done.stdout)
        if found:
            return found.group(1)
        if not attempt:
            _run(["apt-get", "update", "-q"])
    raise NotAvailable(f"apt knows no {META}")


def kernel(cache):
    """The folder with boot/vmlinuz-* and lib/modules: what is there already, or unpacked anew."""
    ready = pathlib.Path(cache) / "kernel"
    if ready.exists():
        return ready
    work = pathlib.Path(cache) / f"kernel.{os.getpid()}"
    work.mkdir(parents=True)
    try:
        _run(["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", _package()], cwd=work)
        package = next(work.glob("*.deb"))
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as unpack:
            _run(["tar", "-x", "-C", work, "--wildcards", *WANTED], stdin=unpack.stdout)
        package.unlink()
        work.rename(ready)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return ready


def _needs(module):
    """Names of the modules that this one depends on."""
    found = re.search(rb"\0depends=([^\0]*)\0", b"\0" + module.read_bytes())
    return [name for name in found.group(1).decode().split(",") if name] if found else []


def _module_order(folder):
    """Files of MODULES and of what they need, in the order in which they load."""
    files = {path.stem.replace("-", "_"): path for path in folder.glob("lib/modules/*/kernel/**/*.ko")}
    order = []

    def add(name):
        path = files.get(name.replace("-", "_"))
        if path is None or path in order:
            return  # built in
        for needed in _needs(path):
            add(needed)
        order.append(path)

    for name in MODULES:
        add(name)
    return order


def _add_program(root, program):
    """A program of the host with the libraries that it needs, where it looks for them."""
    shutil.copy(program, root / "bin")
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(/\S+) \(0x", listed):
        place = root / library.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            shutil.copy(library, place)


def _initramfs(folder, root, programs, files):
    for name in ("bin", "modules", "bpf"):
        (root / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    for applet in APPLETS.split():
        (root / "bin" / applet).symlink_to("busybox")
    # To be called by its path: to busybox's shell a bare "ip" is its own.
    _add_program(root, shutil.which("ip", path="/usr/sbin:/sbin:/usr/bin:/bin"))
    for program in programs:
        _add_program(root, program)
    order = _module_order(folder)
    for module in order:
        shutil.copy(module, root / "modules")
    (root / "modules/order").write_text("".join(f"{module.name}\n" for module in order))
    for place, content in files.items():
        if isinstance(content, pathlib.Path):
            shutil.copy(content, root / place)
        else:
            (root / place).write_text(content)
    for name in ("init", "network"):
        shutil.copy(HERE / name, root / name)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    archive = root.parent / "initramfs"
    with open(archive, "wb") as out:
        subprocess.run(
            ["/bin/busybox", "cpio", "-o", "-H", "newc"], input=names.encode(), stdout=out,
            stderr=subprocess.DEVNULL, cwd=root, check=True,
        )  # fmt: skip
    return archive


def boot(cache, scratch, programs, files):
    """Boots and waits for the end. `programs` of the host go to /bin with their libraries, `files` (paths or
    texts) to the places that name them. Returns the lines of the report; raises with the console's end when the last is not "end"."""
    folder = kernel(cache)
    archive = _initramfs(folder, scratch / "root", programs, files)
    report, console = scratch / "report", scratch / "console"
    command = [
        "qemu-system-x86_64", "-accel", "tcg", "-m", "1024", "-nodefaults", "-no-user-config", "-display", "none",
        "-no-reboot", "-kernel", next(folder.glob("boot/vmlinuz-*")), "-initrd", archive,
        "-append", "console=ttyS0 quiet panic=-1 mitigations=off tsc=unstable random.trust_cpu=on",
        "-serial", f"file:{console}", "-device", "virtio-serial-pci",
        "-chardev", f"file,id=report,path={report}", "-device", "virtserialport,chardev=report,name=report",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        problem = done.stderr
    except subprocess.TimeoutExpired:
        problem = f"not finished after {SECONDS} s"
    lines = report.read_text(errors="replace").splitlines() if report.exists() else []
    if not lines or lines[-1] != "end":
        shown = console.read_text(errors="replace")[-3000:] if console.exists() else ""
        raise RuntimeError(f"the guest did not come to its end: {problem}\n{lines[-1:]}\n{shown}")
    return lines
