"""A report of the paper's whole grid with 10,000 pairs stays small, and opens fast."""

from dataclasses import replace
from pathlib import Path

import pytest

from reports.page.page import write_page
from reports.report import TITLE, report
from reports.stored.artefacts import load
from reports.stored.traces import read_examples
from tests.page.conftest import DESK, PHONE, STORED, Screen, Visit
from tests.page.samples import grown
from tests.reports.write_traces import random_lines, write_traces

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

PAIRS = 10_000
HEAVIEST = 15_000_000  # bytes
OPEN, DRAWN = 2.0, 10.0  # seconds, the second where others compute, too
# Seconds after navigation began: of the load event, of the first figure, of the last one.
TIMES = """async () => {
  const figures = [...document.querySelectorAll("figure[data-figure]")];
  const drawn = () => figures.filter((figure) => figure.dataset.drawn);
  const when = (done) => new Promise((resolve) => {
    const look = () => (done() ? resolve(performance.now()) : requestAnimationFrame(look));
    look();
  });
  const first = await when(() => drawn().length > 0);
  const last = await when(() => drawn().length === figures.length);
  const [load] = performance.getEntriesByType("navigation");
  return [load.loadEventEnd, first, last].map((milliseconds) => milliseconds / 1000);
}"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as the stage writes it, of 432 + 54 trials of 15 epochs and 10,000 pairs."""
    folder = tmp_path_factory.mktemp("whole")
    artefacts = grown(load(STORED))
    write_traces(folder, random_lines(PAIRS))
    blocks = report(replace(artefacts, examples=read_examples(folder)), True, PAIRS)
    write_page(folder / "index.html", TITLE, blocks)
    return folder / "index.html"


def test_it_weighs_less_than_15_megabytes(whole: Path) -> None:
    size = whole.stat().st_size
    print(f"{size / 1e6:.2f} MB")
    assert size < HEAVIEST


@pytest.mark.alone
@pytest.mark.parametrize("size", [PHONE, DESK], ids=str)
def test_it_opens_in_two_seconds(whole: Path, visit: Visit, size: tuple[int, int]) -> None:
    # An earlier test's page may have left work; the best of three is the page's own.
    times = [visit(whole, Screen(*size, "light")).evaluate(TIMES) for _ in range(3)]
    for load_event, first, last in times:
        print(f"load {load_event:.2f} s, first figure {first:.2f} s, all {last:.2f} s")
    assert min(max(load_event, first) for load_event, first, _ in times) < OPEN
    assert min(last for *_, last in times) < DRAWN
