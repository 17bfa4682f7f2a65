"""The figure of accuracy and steps by hops, from the tables of a study."""

from pathlib import Path

import pytest
from PIL import Image

from studies.multihop.figure import main
from tests.reports.conftest import STORED


def test_both_charts_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        SystemExit, match=r"results.csv is missing; run: act-nli use study=depth && dvc"
    ):
        main(tmp_path / "hops.png")
    monkeypatch.chdir(STORED.parent)
    main(tmp_path / "hops.png")
    with Image.open(tmp_path / "hops.png") as image:
        assert image.width > 2 * image.height
