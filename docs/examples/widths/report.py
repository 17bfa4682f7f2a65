"""Accuracy by width."""

import pandas as pd

from reports import format as fmt
from reports.blocks import Section, StudyReport, Table
from reports.load import Artifacts
from studies.widths.tables import COLUMNS


def section(data: Artifacts, _claims: pd.DataFrame) -> Section:
    """Return a table."""
    columns = {
        "model": fmt.model_name,
        "width": fmt.count("width"),
        "seeds": fmt.count("seeds"),
        "dev accuracy, %": fmt.percent("dev_accuracy"),
    }
    return Section("Accuracy by width", [Table("widths", data["widths/points"], columns)])


STUDY = StudyReport(COLUMNS, section, run=("model", "width"))
