"""Machines made of the kernel's namespaces: each with a network, files and processes of its own.

A laboratory is a namespace of processes. With its first process, which waits for its input to
end, all that was started in it, its network and its mounts are gone, however the tests end.
"""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Self

import psutil

from tests.end_to_end.project import wait_for

TOOLS = ("ip", "mount", "nsenter", "unshare")
UNSHARE = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child")
SYSTEM = ("/usr", "/etc", "/sys")  # what any program needs, beside /dev
NETWORK = "10.77.0"  # exists in the laboratory alone

# The first process of a laboratory, whose folder is $1; it lives as long as whoever made it.
LABORATORY = """
cat
test $$ = 1 && kill -9 -1 2>/dev/null
umount --lazy "$1/store"
rm -rf "$1"
"""

# $1: the new root; $2: what is seen there and cannot be written, $3: what can be; each of them a
# path, or HERE=THERE. Nothing else of this machine is to be seen.
BOOT = """
mount -t tmpfs machine "$1"
mkdir "$1/proc" "$1/tmp" "$1/root"
for link in bin lib lib64 sbin; do test ! -L /$link || cp -P /$link "$1/"; done
for path in $2 $3; do
  there="$1/${path#*=}"
  test -e "$there" || mkdir -p "$there"
  mount --rbind "${path%=*}" "$there"
done
for path in $2; do mount -o remount,bind,ro "$1/${path#*=}"; done
mount -t tmpfs memory "$1/dev/shm"
mount -t proc processes "$1/proc"
touch "$1/ready"
exec chroot "$1" sh -c 'while sleep 60; do :; done'
"""


def missing_tools() -> str:
    """Why no machine can be made here; empty if it can."""
    if os.geteuid() != 0:
        return "not root"
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        return f"without {', '.join(missing)}"
    allowed = subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True)
    return "without the right to make namespaces" if allowed.returncode else ""


def enter(pid: int, *options: str) -> list[str]:
    return ["nsenter", f"--target={pid}", *options]


def call(*command: str, timeout: float = 120) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout


def first_process(launcher: subprocess.Popen[bytes]) -> int:
    children = wait_for(psutil.Process(launcher.pid).children, "a namespace", 30)
    return int(children[0].pid)


class Laboratory:
    """A bridge and a small store that all machines see at the same path.

    Use as a context. What runs in the laboratory itself sees this machine's files, but a
    network and processes of its own; its address is `address`.
    """

    def __init__(self) -> None:
        self.folder = Path(mkdtemp(prefix="lab", dir="/tmp"))  # short: sockets lie below it
        self.store, self.address = self.folder / "store", f"{NETWORK}.1"
        self.store.mkdir()
        self._launcher = subprocess.Popen(
            [*UNSHARE, "--mount-proc", "sh", "-c", LABORATORY, "laboratory", str(self.folder)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        self._machines: list[Machine] = []
        self.pid = first_process(self._launcher)
        self.call("mount", "-t", "tmpfs", "-o", "size=64m", "s", str(self.store))
        for words in (
            "link set lo up",
            "link add bridge type bridge",
            f"address add {self.address}/24 dev bridge",
            "link set bridge up",
        ):
            self.call("ip", *words.split())

    def inside(self) -> list[str]:
        return enter(self.pid, "--mount", "--net", "--pid")

    def call(self, *command: str) -> str:
        return call(*self.inside(), *command)

    def seen(self, path: Path) -> Path:
        return Path(f"/proc/{self.pid}/root{path}")

    def machine(self, shown: Sequence[str] = (), writable: Sequence[str] = ()) -> "Machine":
        machine = Machine(self, len(self._machines) + 2, shown, writable)
        self._machines.append(machine)
        return machine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._launcher.stdin
        self._launcher.stdin.close()
        self._launcher.wait(30)
        for machine in self._machines:
            machine.launcher.wait(30)


class Machine:
    """A machine on the laboratory's bridge, see Laboratory.machine."""

    def __init__(
        self, laboratory: Laboratory, number: int, shown: Sequence[str], writable: Sequence[str]
    ) -> None:
        self.laboratory, self.address = laboratory, f"{NETWORK}.{number}"
        self.wire = f"wire{number}"
        root = laboratory.folder / f"machine{number}"
        root.mkdir()
        command = [*laboratory.inside(), *UNSHARE, "sh", "-euc", BOOT, "boot", str(root)]
        command += [" ".join((*SYSTEM, *shown)), " ".join(("/dev", *writable))]
        self.launcher = subprocess.Popen(command, start_new_session=True)
        # nsenter forks too: into the namespace of processes of the laboratory
        unshared = wait_for(psutil.Process(self.launcher.pid).children, "unshare", 30)[0]
        self.pid = int(wait_for(unshared.children, "a machine", 30)[0].pid)
        wait_for(Path(f"/proc/{self.pid}/root/ready").exists, "its files", 30)
        outside = enter(laboratory.pid, "--net")
        end = f"peer name eth0 netns {self.pid}".split()
        call(*outside, "ip", "link", "add", self.wire, "type", "veth", *end)
        call(*outside, "ip", "link", "set", self.wire, "master", "bridge", "up")
        for words in (
            "link set lo up",
            f"address add {self.address}/24 dev eth0",
            "link set eth0 up",
        ):
            call(*enter(self.pid, "--net"), "ip", *words.split())

    def call(self, *command: str, timeout: float = 120) -> str:
        inside = enter(self.pid, "--mount", "--net", "--pid", "--root", "--wd")
        own = ("env", "-i", "PATH=/usr/bin:/bin", "HOME=/root")
        return call(*inside, *own, *command, timeout=timeout)

    def connect(self, connected: bool = True) -> None:
        state = "up" if connected else "down"
        self.laboratory.call("ip", "link", "set", self.wire, state)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.launcher.wait(30)
