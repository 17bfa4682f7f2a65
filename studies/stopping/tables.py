"""Columns of the tables of the study `stopping`."""

from actmodels.tables import TIME, TRAINED

COLUMNS = {
    "results.csv": f"task run {TRAINED} dev_accuracy dev_mean_steps",
    # strings and bits: share that is right; correlation: Pearson's r of steps and needed steps
    "lengths.csv": "task run seed exit length strings bits mean_steps correlation",
    "history.csv": "task run seed epoch train_loss dev_accuracy dev_mean_steps",
    "timings.csv": f"task run {TIME}",
}
