"""Packs in double precision, where only rounding sets them apart from single trials."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def in_double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
