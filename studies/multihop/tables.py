"""Columns of the tables of the study `multihop`."""

from actmodels.tables import TIME, TRAINED

COLUMNS = {
    # correlation: Pearson's r of steps and hops, for the trained depths and the next one
    "results.csv": f"model run {TRAINED} dev_accuracy dev_mean_steps correlation",
    "hops.csv": "model run seed hops trained pairs accuracy mean_steps",
    "timings.csv": f"model run {TIME}",
    "history.csv": "model run seed epoch train_loss dev_accuracy dev_mean_steps",
}
