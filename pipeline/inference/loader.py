"""Loader of `mlflow.pyfunc.load_model` and `mlflow models serve`; only MLflow imports it."""

from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.exceptions import MlflowException

from pipeline.inference.answer import Answerer, PairError
from pipeline.inference.bundle import read_bundle


class EntailmentModel:
    """The interface that MLflow expects of a model."""

    def __init__(self, answerer: Answerer) -> None:
        self.answerer = answerer

    def predict(self, model_input: pd.DataFrame, params: dict[str, Any] | None = None) -> Any:
        """Answer rows with the columns premise and hypothesis.

        Args:
            params: {"attention": True} adds a column of that name: see PairAnswer.attention.

        Returns:
            A table [pairs] with the columns predicted, one per label, steps and unknown_words.

        Raises:
            MlflowException: a sentence is no text, has no words, or too many; served as status
                400 with that sentence.
        """
        pairs = []
        sentences = zip(model_input["premise"], model_input["hypothesis"], strict=True)
        for number, (premise, hypothesis) in enumerate(sentences, start=1):
            try:
                pairs.append(self.answerer.read(premise, hypothesis))
            except PairError as error:
                place = f"pair {number} of {len(model_input)}"
                raise MlflowException.invalid_parameter_value(f"{place}: {error}") from error
        attention = bool(params and params.get("attention"))
        answers = self.answerer.answers(pairs, attention=attention)
        rows = [
            answer.row() | ({"attention": answer.attention} if attention else {})
            for answer in answers
        ]
        # dtype=object: steps that are whole numbers stay so, and None becomes null in JSON
        return pd.DataFrame(rows, index=model_input.index, dtype=object)


def _load_pyfunc(path: str) -> EntailmentModel:
    """Called by MLflow with the folder that pipeline.inference.bundle wrote."""
    return EntailmentModel(Answerer(read_bundle(Path(path))))
