"""Columns of the tables of the study `multihop`."""

from actmodels.tables import TIME, TRAINED

RUN = "model run seed"
BY_HOPS = "hops trained pairs accuracy mean_steps"
COLUMNS = {
    # correlation: Pearson's r of steps and hops, over all tested depths
    "results.csv": f"model run {TRAINED} dev_accuracy dev_mean_steps correlation",
    "hops.csv": f"{RUN} {BY_HOPS}",
    # as halted, with premises of the deepest pairs' length at every depth
    "longest.csv": f"{RUN} {BY_HOPS}",
    # the same weights by exit rule; see studies/multihop/exits.py
    "exits.csv": f"{RUN} exit {BY_HOPS}",
    "correlations.csv": f"{RUN} exit correlation",
    # the state after `steps` steps, for all pairs
    "states.csv": f"{RUN} hops trained steps accuracy",
    # multiply-adds for one pair, before the first step and for each step
    "costs.csv": f"{RUN} hops encoding step",
    "timings.csv": f"model run {TIME}",
    "history.csv": f"{RUN} epoch train_loss dev_accuracy dev_mean_steps",
}
