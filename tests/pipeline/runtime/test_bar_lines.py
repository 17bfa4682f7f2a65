"""Outside of a terminal a progress bar has lines of its own."""

import io
from typing import TextIO, cast

from tqdm import tqdm

from pipeline.runtime.bar_lines import BarLines


def test_no_output_is_glued_to_a_bar() -> None:
    log = io.StringIO()
    stream = cast(TextIO, BarLines(log))
    for number in tqdm(range(2), "epochs", file=stream, mininterval=0):
        log.write(f"standard output {number}\n")
        tqdm.write(f"a note {number}", file=stream)
    print("the next stage", file=stream)
    lines = log.getvalue().splitlines()
    assert "\r" not in log.getvalue() and "" not in lines
    assert {line for line in lines if not line.startswith("epochs: ")} == {
        *(f"{text} {number}" for text in ("standard output", "a note") for number in (0, 1)),
        "the next stage",
    }
    assert lines[-2].startswith("epochs: 100%")
