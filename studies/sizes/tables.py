"""Columns of the tables of the study `sizes`."""

from actmodels.tables import MEANS, TIME, TRAINED

COLUMNS = {
    # cut_off: share of runs whose dev accuracy was still improving at the end
    "points.csv": f"model pairs seeds epochs cut_off {MEANS.removeprefix('seeds ')}",
    "timings.csv": f"model pairs {TIME}",
    "results.csv": f"model pairs {TRAINED} dev_accuracy dev_mean_steps test_accuracy cut_off",
}
