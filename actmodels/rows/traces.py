"""What more steps than one did to an answer, and how it is counted: names in artefacts/trace/."""

OUTCOMES = (
    "corrected",
    "spoiled",
    "right_throughout",
    "wrong_throughout",
    "changed_in_between",
)
COUNTS = ("pairs", "right_after_step_1", "right", *OUTCOMES)
