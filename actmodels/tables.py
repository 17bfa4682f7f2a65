"""Columns of the tables that stages write, by path in artifacts/.

The report checks COLUMNS when it loads a file, and does not read UNREPORTED ones. Shares are in
[0, 1]. Empty values: steps of a model without steps; p and sd with one seed.
"""

# Effect of the steps after the first on an answer, counted in artifacts/trace/.
_CONSTANT = ("right_throughout", "wrong_throughout")
OUTCOMES = ("corrected", "spoiled", *_CONSTANT, "changed_in_between")
COUNTS = ("pairs", "right_after_step_1", "right", *OUTCOMES)

_RUN = "model seed"
_MEANS = "seeds dev_accuracy_mean dev_accuracy_sd test_accuracy_mean test_accuracy_sd"
_DIFFERENCE = "difference low high p pairs"  # of test accuracies, with its 95 % CI
_TIME = "seed epochs seconds"
_TRAINED = "seed key parameters epochs best_epoch diverged"
_SEQUENCE, _CLOZE, _MULTIHOP = "task run seed", "questions run seed", "model run seed"

_TABLES = {
    "sweep/timings.csv": "key model seed epoch seconds examples_per_second",
    "retrain/timings.csv": "key model seed epoch seconds examples_per_second",
    "lexical_baseline/results.csv": f"{_RUN} parameters regularization dev_accuracy test_accuracy "
    "test_pairs",
    "lexical_baseline/predictions.csv": f"{_RUN} pair_id label predicted steps",
    "evaluate/results.csv": f"{_RUN} key parameters epochs best_epoch dev_accuracy test_accuracy "
    "test_pairs test_mean_steps test_sd_steps",
    "evaluate/depth.csv": f"{_RUN} depth pairs accuracy mean_steps",
    "evaluate/predictions.csv": f"{_RUN} pair_id label predicted steps",
    "evaluate/paired.csv": f"model reference seeds {_DIFFERENCE}",
    # mean_length: of premise and hypothesis, in words
    "evaluate/lengths.csv": f"{_RUN} mean_length steps pairs",
    "evaluate/correlations.csv": f"{_RUN} steps_against pairs pearson spearman",
    "ablate/dev.csv": f"{_RUN} reading steps accuracy mean_steps",
    "ablate/test.csv": f"{_RUN} reading steps accuracy mean_steps",
    "ablate/gains.csv": f"reading steps seeds {_DIFFERENCE}",
    "fidelity/variants.csv": f"model variant changes {_MEANS} test_mean_steps {_DIFFERENCE}",
    "fidelity/timings.csv": f"model variant {_TIME}",
    # cut_off: share of runs whose dev accuracy was still improving at the end
    "sizes/points.csv": f"model pairs seeds epochs cut_off {_MEANS.removeprefix('seeds ')} fitted",
    # error = floor + scale · pairs^-exponent; bounded: the exponent is at a limit of its range
    "sizes/laws.csv": "model without_largest sizes floor scale exponent pairs accuracy low high "
    "bounded wide",
    "sizes/curves.csv": "model pairs accuracy low high",
    "sizes/timings.csv": f"model pairs {_TIME}",
    "halting/points.csv": "kind point seeds dev_accuracy_mean dev_accuracy_sd mean_steps_mean "
    "mean_steps_sd collapsed ponder_weight_end_mean",
    "halting/depth.csv": "kind point seed depth pairs accuracy mean_steps",
    "halting/timings.csv": f"kind point {_TIME}",
    "sequences/results.csv": f"task run halting ponder_weight {_TRAINED} dev_error dev_loss "
    "dev_mean_steps dev_sd_steps dev_ponder_cost",
    # error: empty for instances without a target
    "sequences/difficulty.csv": f"{_SEQUENCE} difficulty instances asked error mean_steps "
    "ponder_cost",
    "sequences/history.csv": f"{_SEQUENCE} epoch train_loss dev_loss dev_error dev_mean_steps",
    "sequences/reading.csv": f"{_SEQUENCE} position byte steps ponder loss entropy",
    "sequences/bytes.csv": f"{_SEQUENCE} kind bytes steps ponder loss entropy",
    "sequences/timings.csv": f"task run {_TIME}",
    # correlation: Pearson's r of steps and hops, for the trained depths and the next one
    "multihop/results.csv": f"model run {_TRAINED} dev_accuracy dev_mean_steps correlation",
    "multihop/hops.csv": f"{_MULTIHOP} hops trained pairs accuracy mean_steps",
    "multihop/history.csv": f"{_MULTIHOP} epoch train_loss dev_accuracy dev_mean_steps",
    "multihop/timings.csv": f"model run {_TIME}",
    "cloze/results.csv": f"questions run strategy steps {_TRAINED} dev_accuracy dev_loss "
    "dev_mean_steps dev_sd_steps test_accuracy test_questions test_mean_steps",
    "cloze/runs.csv": f"questions run strategy steps {_MEANS} test_mean_steps {_DIFFERENCE}",
    "cloze/baselines.csv": "questions source split count candidates random most_frequent",
    "cloze/history.csv": f"{_CLOZE} epoch train_loss train_accuracy dev_loss dev_accuracy "
    "dev_mean_steps",
    "cloze/steps.csv": f"{_CLOZE} step weight accuracy",
    "cloze/timings.csv": f"questions run {_TIME}",
}
_UNREPORTED = {
    "fidelity/results.csv": f"model variant {_TRAINED} dev_accuracy dev_mean_steps dev_sd_steps "
    "ponder_weight_end test_accuracy test_pairs test_mean_steps",
    "sizes/results.csv": f"model pairs {_TRAINED} dev_accuracy dev_mean_steps test_accuracy "
    "cut_off",
    "halting/results.csv": f"kind point {_TRAINED} dev_accuracy dev_mean_steps dev_sd_steps "
    "ponder_weight_end",
    "halting/history.csv": "kind point seed epoch dev_accuracy dev_mean_steps ponder_weight",
}
COLUMNS = {path: columns.split() for path, columns in _TABLES.items()}
UNREPORTED = {path: columns.split() for path, columns in _UNREPORTED.items()}
