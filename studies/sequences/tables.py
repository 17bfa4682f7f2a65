"""Columns of the tables of the study `sequences`."""

from actmodels.tables import TIME, TRAINED

_RUN = "task run seed"
COLUMNS = {
    "results.csv": f"task run halting ponder_weight {TRAINED} dev_error dev_loss "
    "dev_mean_steps dev_sd_steps dev_ponder_cost",
    # error: empty for instances without a target
    "difficulty.csv": f"{_RUN} difficulty instances asked error mean_steps ponder_cost",
    # one sequence, read by networks with ACT of the first seed; ponder: N + R
    "along.csv": f"{_RUN} position input target steps ponder",
    "history.csv": f"{_RUN} epoch train_loss dev_loss dev_error dev_mean_steps",
    "reading.csv": f"{_RUN} position byte steps ponder loss entropy",
    "bytes.csv": f"{_RUN} kind bytes steps ponder loss entropy",
    "timings.csv": f"task run {TIME}",
}
