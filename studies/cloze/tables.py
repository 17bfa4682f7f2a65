"""Columns of the tables of the study `cloze`."""

from actmodels.tables import DIFFERENCE, MEANS, TIME, TRAINED

_RUN = "questions run seed"
COLUMNS = {
    "results.csv": f"questions run strategy steps {TRAINED} dev_accuracy dev_loss "
    "dev_mean_steps dev_sd_steps test_accuracy test_questions test_mean_steps",
    "runs.csv": f"questions run strategy steps {MEANS} test_mean_steps {DIFFERENCE}",
    "baselines.csv": "questions source split count candidates tokens random most_frequent",
    "history.csv": f"{_RUN} epoch train_loss train_accuracy dev_loss dev_accuracy dev_mean_steps",
    "steps.csv": f"{_RUN} step weight accuracy",
    "timings.csv": f"questions run {TIME}",
}
