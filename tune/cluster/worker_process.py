"""Settings of a process that trains: torch's threads and precision, and its title."""

import os
from contextlib import suppress
from pathlib import Path

import torch

# Place of the arguments in memory: fields 48 and 49 of proc_pid_stat(5), counted from the third.
ARGUMENTS = slice(45, 47)


def configure_torch(threads: int, precision: str, device: str) -> None:
    """Set threads and matmul precision; below "highest" a GPU uses TF32 or bfloat16.

    A GPU gets deterministic operations, so that a resumed trial equals an uninterrupted one. Call
    this before the first operation on the GPU.

    threads: of this fusion; on two cores, two fusions with torch's default number are 4.6 times
    slower than with one thread each.
    """
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision(precision)
    torch.backends.cudnn.allow_tf32 = precision != "highest"  # torch's default for LSTMs is true
    if device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS reads it at its start
        torch.use_deterministic_algorithms(True, warn_only=True)
        # Filling new tensors would cost a kernel for each.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def set_process_title(title: str) -> None:
    """Show a title on Ray's Cluster page, in `top` and in `nvidia-smi`; on Linux alone.

    It overwrites the arguments of this process, as Ray does before each call.
    The package setproctitle fails here: it looks for arguments that Ray has overwritten. This is
    for display only, so that a system that forbids it shows Ray's title.
    """
    with suppress(OSError, ValueError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        start, end = map(int, fields[ARGUMENTS])
        text = title.encode()[: end - start - 1].ljust(end - start, b"\0")
        memory = os.open("/proc/self/mem", os.O_WRONLY)
        try:
            os.pwrite(memory, text, start)
        finally:
            os.close(memory)
