"""Stage `select_best`: select the best configuration of each model by dev accuracy."""

from pipeline.parameters.load import load_params
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.trials.records import read_records, report_lost
from pipeline.trials.selection import TIE_RULES, select_best


def main() -> None:
    """Write artifacts/select_best/best.json; name the models that are not in it.

    Raises:
        SweepError: no model is left.
    """
    ties, records = load_params().select_best.ties, read_records("sweep")
    report_lost("select_best", records)
    rule = "highest dev accuracy; then " + ", ".join(TIE_RULES[rule] for rule in ties)
    best = {
        model: {
            "key": winner.records[0].key,
            "keys": [record.key for record in winner.records],
            "config": winner.config.as_dict(),
            "dev_accuracy": winner.dev_accuracy,
            "dev_accuracy_sd": winner.dev_accuracy_sd,
            "seeds": len(winner.records),
            "considered": winner.considered,
            "tied": winner.tied,
            "tie_rule": rule,
        }
        for model, winner in select_best(records, ties).items()
    }
    write_json(artifacts("select_best", "best.json"), best)


if __name__ == "__main__":
    run_stage(main)
