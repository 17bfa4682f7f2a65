"""Simulated machines: Linux namespaces with separate networks, files and processes.

A laboratory is a process namespace. Its first process waits for the end of its input; when it
ends, the kernel removes all processes, networks and mounts in it, however the tests end.
"""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

import psutil

from tests.end_to_end.project import wait_for

TOOLS = ("ip", "mount", "nsenter", "unshare")
UNSHARE = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child")
SYSTEM = ("/usr", "/etc", "/sys")  # which any program needs, in addition to /dev
NETWORK = "10.77.0"  # in the laboratory only

# The first process of a laboratory, whose folder is $1; it ends with its creator.
LABORATORY = """
cat
test $$ = 1 && kill -9 -1 2>/dev/null
umount --lazy "$1/store"
rm -rf "$1"
"""

# $1: the new root; $2: read-only paths in it, $3: writable ones; each a path, or HERE=THERE.
# Nothing else of this machine is visible.
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
    """Return why no machine can be created here, or ""."""
    if os.geteuid() != 0:
        return "not root"
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        return f"without {', '.join(missing)}"
    allowed = subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True)
    return "without permission to create namespaces" if allowed.returncode else ""


def enter(pid: int, *options: str) -> list[str]:
    return ["nsenter", f"--target={pid}", *options]


def call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout


def ip(pid: int, *commands: str) -> None:
    """Run commands of `ip` in the network of a process."""
    for command in commands:
        call(*enter(pid, "--net"), "ip", *command.split())


class Laboratory:
    """A network bridge, and a small store at the same path on all machines, until `close`.

    Commands in the laboratory itself see this machine's files, but have a separate network, with
    the address `address`, and separate processes.
    """

    def __init__(self) -> None:
        self.folder = Path(mkdtemp(prefix="lab", dir="/tmp"))  # short, for the paths of sockets
        self.store, self.address = self.folder / "store", f"{NETWORK}.1"
        self.store.mkdir()
        self._launcher = subprocess.Popen(
            [*UNSHARE, "--mount-proc", "sh", "-c", LABORATORY, "laboratory", str(self.folder)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        self._machines: list[Machine] = []
        first = wait_for(psutil.Process(self._launcher.pid).children, "a namespace", 30)[0]
        self.pid = int(first.pid)
        self.call("mount", "-t", "tmpfs", "-o", "size=64m", "s", str(self.store))
        ip(self.pid, "link set lo up", "link add bridge type bridge")
        ip(self.pid, f"address add {self.address}/24 dev bridge", "link set bridge up")

    def inside(self) -> list[str]:
        return enter(self.pid, "--mount", "--net", "--pid")

    def call(self, *command: str) -> str:
        return call(*self.inside(), *command)

    def machine(self, read_only: Sequence[str] = (), writable: Sequence[str] = ()) -> "Machine":
        machine = Machine(self, len(self._machines) + 2, read_only, writable)
        self._machines.append(machine)
        return machine

    def close(self) -> None:
        assert self._launcher.stdin
        self._launcher.stdin.close()
        self._launcher.wait(30)
        for machine in self._machines:
            machine.launcher.wait(30)


class Machine:
    """A machine on the laboratory's bridge, see Laboratory.machine."""

    def __init__(
        self, laboratory: Laboratory, number: int, read_only: Sequence[str], writable: Sequence[str]
    ) -> None:
        self.laboratory, self.address = laboratory, f"{NETWORK}.{number}"
        self.wire = f"wire{number}"
        root = laboratory.folder / f"machine{number}"
        root.mkdir()
        command = [*laboratory.inside(), *UNSHARE, "sh", "-euc", BOOT, "boot", str(root)]
        command += [" ".join((*SYSTEM, *read_only)), " ".join(("/dev", *writable))]
        self.launcher = subprocess.Popen(command, start_new_session=True)
        # nsenter forks, too, into the process namespace of the laboratory
        unshared = wait_for(psutil.Process(self.launcher.pid).children, "unshare", 30)[0]
        self.pid = int(wait_for(unshared.children, "a machine", 30)[0].pid)
        wait_for(Path(f"/proc/{self.pid}/root/ready").exists, "its files", 30)
        end = f"peer name eth0 netns {self.pid}"
        ip(laboratory.pid, f"link add {self.wire} type veth {end}")
        ip(laboratory.pid, f"link set {self.wire} master bridge up")
        ip(self.pid, "link set lo up", f"address add {self.address}/24 dev eth0")
        ip(self.pid, "link set eth0 up")

    def call(self, *command: str) -> str:
        inside = enter(self.pid, "--mount", "--net", "--pid", "--root", "--wd")
        environment = ("env", "-i", "PATH=/usr/bin:/bin", "HOME=/root")
        return call(*inside, *environment, *command)

    def connect(self, connected: bool = True) -> None:
        ip(self.laboratory.pid, f"link set {self.wire} {'up' if connected else 'down'}")

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.launcher.wait(30)
