"""The model loader of `mlflow.pyfunc.load_model` and `mlflow models serve`."""

from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.exceptions import MlflowException

from pipeline.inference.bundle import read_bundle
from pipeline.inference.predictor import PairError, Predictor


class EntailmentModel:
    """The Python model interface of MLflow."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor

    def predict(self, model_input: pd.DataFrame, params: dict[str, Any] | None = None) -> Any:
        """Predict rows with the columns premise and hypothesis.

        Args:
            params: {"attention": True} adds the column `attention`; see PairPrediction.

        Returns:
            A table [pairs] with the columns of PairPrediction.row.

        Raises:
            MlflowException: a sentence is not text, is empty, or is too long. MLflow serves it
                as status 400 with the message.
        """
        pairs = []
        sentences = zip(model_input["premise"], model_input["hypothesis"], strict=True)
        for number, (premise, hypothesis) in enumerate(sentences, start=1):
            try:
                pairs.append(self.predictor.tokenize(premise, hypothesis))
            except PairError as error:
                where = f"pair {number} of {len(model_input)}"
                raise MlflowException.invalid_parameter_value(f"{where}: {error}") from error
        attention = bool(params and params.get("attention"))
        rows = [
            prediction.row() | ({"attention": prediction.attention} if attention else {})
            for prediction in self.predictor.predict(pairs, attention=attention)
        ]
        # dtype=object keeps steps integers, and turns None into null in JSON
        return pd.DataFrame(rows, index=model_input.index, dtype=object)


def _load_pyfunc(path: str) -> EntailmentModel:
    """Load the bundle that MLflow stores with the model."""
    return EntailmentModel(Predictor(read_bundle(Path(path))))
