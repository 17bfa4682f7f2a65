"""Reasons and nodes of failures, from error files of Ray 2.60."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tune.failures import Failure

RAISED = """Failure # 1 (occurred at 2026-11-22_10-41-14)
\x1b[36mray::ImplicitFunc.train()\x1b[39m (pid=7114, ip=192.0.2.2, actor_id=d852, repr=func)
           ^^^^^^^^^
  File "/site-packages/ray/tune/trainable/trainable.py", line 329, in train
    raise skipped from exception_cause(skipped)
  File "/tmp/ray/session/working_dir_files/_ray_pkg_19fd/tune/trainable.py", line 247, in run_fusion
    trained = training.run_epoch()
{error}
"""
DIED = """Failure # 1 (occurred at 2026-11-22_10-41-15)
The actor died unexpectedly before finishing this task.
\tclass_name: ImplicitFunc
\tactor_id: 17e6e68069e103e4d515be6801000000
\tpid: 7115
\tnamespace: a34394d6-8d93-4e4a-900f-674d084748e3
\tip: 192.0.2.7
The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit \
detail: Worker unexpectedly exits with a connection error code 2. End of file. Some common causes \
include: (1) the process was killed by the OOM killer due to high memory usage.
"""
UNAVAILABLE = """Failure # 1 (occurred at 2026-11-23_04-47-33)
The actor 0ca2cf68aabcbec51fa0723601000000 is unavailable: The actor is temporarily unavailable: \
RpcError: RPC error: recvmsg:Connection reset by peer rpc_code: 14. The task may or may not have \
been executed on the actor.
"""
WORKER = "Worker unexpectedly exits with a connection error code 2. End of file"


@pytest.mark.parametrize(
    ("text", "reason", "node"),
    [
        (
            RAISED.format(error="ValueError: seeded failure"),
            "ValueError: seeded failure",
            "192.0.2.2",
        ),
        (RAISED.format(error="RuntimeError: two\nlines"), "RuntimeError: two lines", "192.0.2.2"),
        (RAISED.format(error="ValueError: a\n  b"), "b", "192.0.2.2"),
        (
            RAISED.format(error="KeyError: 1") + DIED,
            f"its worker process has died: {WORKER}; often the OOM killer, if memory is short",
            "192.0.2.7",
        ),
        (UNAVAILABLE, "its worker cannot be reached", ""),
        ("", "its worker ended without a message", ""),
    ],
)
def test_reason_node_and_trace(text: str, reason: str, node: str, tmp_path: Path) -> None:
    path = tmp_path / "error.txt"
    path.write_text(text)
    failure = Failure.of(SimpleNamespace(error_file=str(path)))
    assert (failure.reason, failure.node) == (reason, node)
    trace = tmp_path / "failures" / "trial.txt"
    where = f"on node {node}, " if node else ""
    assert failure.save(trace) == f"{reason} ({where}trace in {trace})"
    assert trace.read_text() == text.replace("\x1b[36m", "").replace("\x1b[39m", "")


def test_without_a_file(tmp_path: Path) -> None:
    assert (
        Failure.of(SimpleNamespace(error_file=None)).reason == "its worker ended without a message"
    )
