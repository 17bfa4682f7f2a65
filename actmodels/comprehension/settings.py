"""Settings of a reader of cloze questions: frozen. Imports neither torch nor anything outside.

Nothing has a default: the published values are those of Munkhdalai & Yu 2017 section 4.1, and
what they leave open is named beside each field.
"""

from dataclasses import dataclass
from typing import Literal

Strategy = Literal["query_gating", "adaptive_computation"]
Activation = Literal["relu", "tanh", "identity"]


@dataclass(frozen=True)
class ReaderConfig:
    """Shape of the reader.

    strategy: how a step's new query is tested (sections 3.2.1 and 3.2.2); one step is the same
        model in both.
    steps: T; published 1, 2, 6, 9 and 12.
    memory_size: k, of which each direction of a BiLSTM has half; published 436.
    compose_activation: behind the one layer of the compose module; not published.
    forget_bias: constant beside the trained bias of every LSTM's forget gate; 0 is what the
        publication says, which draws all parameters alike.
    parameter_range: parameters start uniform in [-range, range); published 0.1.
    embedding_range: the same for words without a pre-trained vector; published 0.1.
    trained_embeddings: whether the word vectors are trained; published: pre-trained vectors
        initialise a layer of the model, hence true.
    dropout: share of the units of each word vector set to 0 in training; published 0.2.
    """

    strategy: Strategy
    steps: int
    memory_size: int
    compose_activation: Activation
    forget_bias: float
    parameter_range: float
    embedding_range: float
    trained_embeddings: bool
    dropout: float


@dataclass(frozen=True)
class ReadingTrainConfig:
    """Optimisation with Adam.

    learning_rate: published 0.001, for CBT's common nouns 0.0005.
    clip_norm: gradients are scaled to this norm at most; published 15.
    batch_size: published 32 for CBT, 25 for Who-Did-What.
    pool_size: questions in the pool that a batch is taken from; not published.
    keep_last: also train on the questions that are left when no pool can be filled any more. The
        published heuristic leaves them out of the epoch (false); they are the longest ones.
    evaluation_batch_size: questions scored at once; changes no figure.
    """

    learning_rate: float
    clip_norm: float
    batch_size: int
    pool_size: int
    keep_last: bool
    evaluation_batch_size: int
