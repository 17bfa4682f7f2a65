"""How a reader rewrites its query, step by step (Munkhdalai & Yu 2017 appendix A)."""

from typing import NamedTuple

import torch
from torch import Tensor

from actmodels.modules.attention import masked_softmax
from actmodels.reader.model import Reader
from actmodels.reader.questions import QuestionTensors, collate


class QueryTrace(NamedTuple):
    """One question.

    keys: z_t of each word of the query [steps, query tokens]; near 0 where it is to be rewritten.
    gates: g_t [steps - 1, query tokens], near 1 where the old word is kept; None without gates.
    halting: e_t [steps - 1]; None where nothing halts. The last step writes nothing.
    weights: what each step counts in the answer [steps], sum 1.
    attention: over the document's words [steps, document tokens], sum 1.
    step_probabilities: P_t of each candidate [steps, candidates].
    probabilities: those of the answer [candidates].
    """

    keys: Tensor
    gates: Tensor | None
    halting: Tensor | None
    weights: Tensor
    attention: Tensor
    step_probabilities: Tensor
    probabilities: Tensor


@torch.no_grad()
def trace_query(model: Reader, questions: QuestionTensors, number: int) -> QueryTrace:
    """Follow question `number` of a split through the steps of a reader, without dropout."""
    model.eval()
    device = next(model.parameters()).device
    batch = collate(questions, torch.tensor([number]), device)
    answer, looked, judged = model.infer(batch)
    gates = [one.gate[0] for one in judged if one.gate is not None]
    halting = [one.halting[0] for one in judged if one.halting is not None]
    attention = [masked_softmax(one.document_scores, batch.document_mask)[0] for one in looked]
    return QueryTrace(
        keys=torch.stack([one.key[0] for one in looked]),
        gates=torch.stack(gates) if gates else None,
        halting=torch.stack(halting) if halting else None,
        weights=answer.weights[0],
        attention=torch.stack(attention),
        step_probabilities=answer.step_log_probabilities[0].exp(),
        probabilities=answer.log_probabilities[0].exp(),
    )
