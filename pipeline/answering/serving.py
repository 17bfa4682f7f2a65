"""What MLflow's server does with a request that it cannot read: status 400 and one sentence.

By itself it answers 500 to whatever it did not foresee (JSON nested too deeply, a number of
thousands of digits, a column that is a list, no content type), sends traces of its own files, and
takes the word NA in CSV for a missing sentence. It has no hook before it reads a request, so one
function of it is replaced, in the serving process alone.
"""

import io
import json
import logging
from collections.abc import Callable

from mlflow.exceptions import MlflowException
from mlflow.pyfunc import PyFuncModel, scoring_server
from mlflow.types import Schema

from actmodels.errors import DataError
from pipeline.answering.read import KEYS, csv_rows

APPLICATION = "mlflow.pyfunc.scoring_server.app"  # the module that a serving process runs

_read_and_answer: Callable[..., scoring_server.InvocationsResponse] = scoring_server.invocations


def invocations(
    data: bytes, content_type: str | None, model: PyFuncModel, schema: Schema
) -> scoring_server.InvocationsResponse:
    """Answer the body of a request, as MLflow's function of this name does.

    Raises:
        MlflowException: served as its status (400 for what cannot be read) and its message.
    """
    kind = content_type or "none"
    try:
        if kind.startswith(scoring_server.CONTENT_TYPE_CSV):
            data = _csv_as_json(data)
            kind = kind.replace(scoring_server.CONTENT_TYPE_CSV, scoring_server.CONTENT_TYPE_JSON)
        return _read_and_answer(data, kind, model, schema)
    except MlflowException as error:
        if trace := error.json_kwargs.pop("stack_trace", None):
            logging.getLogger(__name__).warning("%s", trace)
        raise
    except DataError as error:
        raise MlflowException.invalid_parameter_value(str(error)) from error
    except Exception as error:  # whatever MLflow's reading did not foresee
        logging.getLogger(__name__).warning("a request could not be read", exc_info=error)
        reason = str(error).partition(";")[0]
        raise MlflowException.invalid_parameter_value(
            f"the request cannot be read ({reason}); expected JSON, CSV or Parquet with the "
            f"columns {' and '.join(KEYS)}"
        ) from error


def _csv_as_json(data: bytes) -> bytes:
    """A request in CSV as one in JSON: every cell is the text that it is."""
    rows = csv_rows(io.BytesIO(data), "request")
    pairs = [[row.fields[key] for key in row.keys] for row in rows]
    return json.dumps({scoring_server.DF_SPLIT: {"columns": KEYS, "data": pairs}}).encode()
