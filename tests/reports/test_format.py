import math
from collections.abc import Callable

from reports import format as fmt
from tests.pipeline.project import transcribe


def test_cells_and_values(golden: Callable[..., None]) -> None:
    transcribe(golden, "format.txt", vars(fmt) | {"math": math})
