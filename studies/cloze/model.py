"""Neural Semantic Encoder for cloze questions (Munkhdalai & Yu 2017)."""

from io import BytesIO
from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.configs import FixedStepsConfig
from actmodels.halting.base import FixedSteps
from actmodels.halting.loop import unroll
from actmodels.halting.states import first_tensor
from actmodels.modules.dropout import Dropout, share_stream
from actmodels.prediction import label_losses
from actmodels.seeding import generator
from studies.cloze.config import ReaderConfig, ReaderTrialConfig
from studies.cloze.data import PAD, ClozeVectors, QuestionBatch, initial_embeddings
from studies.cloze.memory import (
    TESTS,
    ContextEmbedding,
    HypothesisTest,
    Read,
    ReadOutput,
    WritableMemory,
    pointer_sum,
)


class Answer(NamedTuple):
    """Output of a reader."""

    # log P(a | Q, D) in nats [batch, candidates]; -inf for a candidate that is not in the document
    log_probabilities: Tensor
    steps: Tensor  # mean step sum_t t p_t [batch], without gradient
    weights: Tensor  # p_t [batch, steps]
    step_log_probabilities: Tensor  # log P_t [batch, steps, candidates]
    reads: list[ReadOutput]  # output of the read module at each step
    gates: list[Tensor]  # g_t or e_t of each step but the last


class Reader(nn.Module):
    """Read a document with a query in T steps and point at a candidate.

    Each step but the last updates the query memory; the document memory is constant. A reader of
    one step has no hypothesis test (section 4.2).

    Args:
        vectors: of words, by token id [ids, dimensions].
        seed: seed of the other parameters.
    """

    def __init__(self, config: ReaderConfig, vectors: Tensor, seed: int) -> None:
        super().__init__()
        size, self.steps = config.memory_size, config.steps
        self.embedding = nn.Embedding.from_pretrained(
            vectors.clone(), freeze=False, padding_idx=PAD
        )
        self.dropout = Dropout(config.dropout)
        self.dropout_stream = share_stream(self)
        words = vectors.shape[1]
        self.query_embedding = ContextEmbedding(words, size)
        self.document_embedding = ContextEmbedding(words, size)
        self.read = Read(size)
        self.test: HypothesisTest | None = None
        if config.steps > 1:
            self.test = TESTS[config.strategy](size)
        draws, bound = generator("parameters", seed), config.parameter_range
        with torch.no_grad():
            for parameter in self.drawn:
                parameter.uniform_(-bound, bound, generator=draws)

    @property
    def drawn(self) -> list[nn.Parameter]:
        """Trained parameters other than word vectors."""
        named = self.named_parameters()
        return [p for name, p in named if p.requires_grad and not name.startswith("embedding.")]

    def forward(self, batch: QuestionBatch) -> Answer:
        query = self.query_embedding(self.dropout(self.embedding(batch.query)), batch.query_mask)
        document = self.document_embedding(
            self.dropout(self.embedding(batch.document)), batch.document_mask
        )
        reads, gates = self.take_steps(query, document)
        candidates = batch.candidate_mask.shape[1]
        step_logs = [
            pointer_sum(read.document_scores, document.mask, batch.candidate_at, candidates)
            for read in reads
        ]
        logs = torch.stack(step_logs, dim=1)
        if self.test is None:
            answer, weights = logs[:, 0], logs.new_ones(len(logs), 1)
        else:
            answer, weights = self.test.answer(logs, gates)
        numbers = torch.arange(1, self.steps + 1, device=weights.device)
        steps = (weights.detach() * numbers).sum(dim=-1)
        return Answer(answer, steps, weights, logs, reads, gates)

    def take_steps(
        self, query: WritableMemory, document: WritableMemory
    ) -> tuple[list[ReadOutput], list[Tensor]]:
        """Return the read output of each step, and g_t or e_t of each but the last."""
        zeros = torch.zeros_like(query.end)
        slots, reading, writing = query.slots, (zeros, zeros), (zeros, zeros)
        reads: list[ReadOutput] = []
        gates: list[Tensor] = []

        def step(states: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            nonlocal slots, reading, writing
            if reads:  # the query memory is written between two steps
                assert self.test is not None
                read, keep = reads[-1], reads[-1].key[..., None]
                writing = self.test.write(read, writing)
                new = slots * keep + read.document[..., None, :] * (1 - keep)  # M_t (eq. 10)
                slots, gate = self.test.update_query(writing[0], slots, new)
                gates.append(gate)
            read, reading = self.read(states, reading, query._replace(slots=slots), document)
            reads.append(read)
            return read.query, read.document

        every = FixedSteps(FixedStepsConfig(self.steps), query.end.shape[-1])
        unroll(step, (query.end, document.end), every, first_tensor, until_halted=False)
        return reads, gates

    def objective(self, answer: Answer, answers: Tensor) -> Tensor:
        """Return the mean of -log P(correct candidate) in nats []."""
        return label_losses(answer.log_probabilities, answers).mean()


def load_reader(config: ReaderTrialConfig, words: ClozeVectors, weights: BytesIO) -> Reader:
    """Load a trained reader from the best parameters of its trial."""
    model = Reader(config.reader, initial_embeddings(config, words), config.seed)
    model.load_state_dict(torch.load(weights, weights_only=True))
    return model.eval()
