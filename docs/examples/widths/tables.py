"""Columns of the tables of the study `widths`."""

from actmodels.tables import TIME

COLUMNS = {
    "points.csv": "model width seeds dev_accuracy_mean dev_accuracy_sd",
    "timings.csv": f"model width {TIME}",
}
