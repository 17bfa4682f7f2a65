"""Columns of the tables of the study `fidelity`."""

from actmodels.tables import DIFFERENCE, MEANS, TIME, TRAINED

COLUMNS = {
    "variants.csv": f"model variant changes {MEANS} test_mean_steps {DIFFERENCE}",
    "timings.csv": f"model variant {TIME}",
    "results.csv": f"model variant {TRAINED} dev_accuracy dev_mean_steps dev_sd_steps "
    "ponder_weight_end test_accuracy test_pairs test_mean_steps",
}
