"""Regenerate tests/fixtures/report.md: python -m tests.reports.write_report."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from reports.render import write_report
from tests.reports.conftest import STORED, STUDIES

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        write_report(STORED, Path(folder), STUDIES, examples=100)
        shutil.copyfile(Path(folder, "report.md"), STORED.parent / "report.md")
