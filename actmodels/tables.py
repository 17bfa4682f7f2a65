"""Columns of the tables that stages write, names between blanks, by path in artifacts/.

The report checks them when it loads a file. Shares are in [0, 1]. Empty values: steps of a model
without steps; p and sd with one seed. The columns of a study are in its tables.py.
"""

# Effect of the steps after the first on an answer, counted in artifacts/trace/.
_CONSTANT = ("right_throughout", "wrong_throughout")
OUTCOMES = ("corrected", "spoiled", *_CONSTANT, "changed_in_between")
COUNTS = ("pairs", "right_after_step_1", "right", *OUTCOMES)

_RUN = "model seed"
# Columns that studies share.
MEANS = "seeds dev_accuracy_mean dev_accuracy_sd test_accuracy_mean test_accuracy_sd"
DIFFERENCE = "difference low high p pairs"  # of test accuracies, with its 95 % CI
TIME = "seed epochs seconds"
TRAINED = "seed key parameters epochs best_epoch diverged"

COLUMNS = {
    "sweep/timings.csv": "key model seed epoch seconds examples_per_second",
    "retrain/timings.csv": "key model seed epoch seconds examples_per_second",
    "lexical_baseline/results.csv": f"{_RUN} parameters regularization dev_accuracy test_accuracy "
    "test_pairs",
    "lexical_baseline/predictions.csv": f"{_RUN} pair_id label predicted steps",
    "evaluate/results.csv": f"{_RUN} key parameters epochs best_epoch dev_accuracy test_accuracy "
    "test_pairs test_mean_steps test_sd_steps",
    "evaluate/depth.csv": f"{_RUN} depth pairs accuracy mean_steps",
    "evaluate/predictions.csv": f"{_RUN} pair_id label predicted steps",
    "evaluate/paired.csv": f"model reference seeds {DIFFERENCE}",
    # mean_length: of premise and hypothesis, in words
    "evaluate/lengths.csv": f"{_RUN} mean_length steps pairs",
    "evaluate/correlations.csv": f"{_RUN} steps_against pairs pearson spearman",
    # agreement: number of annotators with the most frequent label; mean_loss in nats
    "evaluate/agreement.csv": f"{_RUN} agreement annotators pairs accuracy mean_steps mean_loss",
    # Pearson's r of measure (steps or loss) with `against`; agreement: mean at the least minus all
    "evaluate/difficulty.csv": f"model measure against seeds {DIFFERENCE}",
    "ablate/dev.csv": f"{_RUN} reading steps accuracy mean_steps",
    "ablate/test.csv": f"{_RUN} reading steps accuracy mean_steps",
    "ablate/gains.csv": f"reading steps seeds {DIFFERENCE}",
}
