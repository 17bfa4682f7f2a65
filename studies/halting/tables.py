"""Columns of the tables of the study `halting`."""

from actmodels.tables import TIME, TRAINED

COLUMNS = {
    "points.csv": "kind point seeds dev_accuracy_mean dev_accuracy_sd mean_steps_mean "
    "mean_steps_sd collapsed ponder_weight_end_mean",
    "depth.csv": "kind point seed depth pairs accuracy mean_steps",
    "timings.csv": f"kind point {TIME}",
    "results.csv": f"kind point {TRAINED} dev_accuracy dev_mean_steps dev_sd_steps "
    "ponder_weight_end",
    "history.csv": "kind point seed epoch dev_accuracy dev_mean_steps ponder_weight",
}
