"""Torch's settings of a process that trains: threads, precision, equal results of equal runs."""

import os

import torch


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
