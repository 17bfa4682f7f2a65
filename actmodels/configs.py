"""The settings of a trial on sentence pairs, each with its range, and of halting; the classes.

Every field has one name everywhere: params.yaml, this file, MLflow, the result tables. No torch.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from actmodels.validators import (
    BatchSize,
    Bias,
    NonNegativeFloat,
    NonNegativeInt,
    Positive,
    Range,
    Share,
    Size,
    Steps,
)

LABELS = ("neutral", "entailment", "contradiction")  # in the order of the models' outputs

OovRule = Literal["own", "hashed", "unknown", "trained"]
Init = Literal["xavier", "normal"]
Optimizer = Literal["adam", "adagrad"]
Inside = Annotated[float, Range(gt=0, lt=1)]
PartLeft = Annotated[float, Range(gt=0, le=1)]


@dataclass(frozen=True)
class InputConfig:
    """How tokens become input vectors (paper appendix D).

    oov_rule: rows of words without a pre-trained vector: a random row of its `own`, one of
        `oov_buckets` random rows chosen by `hashed` spelling, or the `unknown` row of words outside
        the vocabulary. `trained`: `own`, trained for words of the training pairs.
    mean_norm: mean length to which the pre-trained vectors are scaled by one factor; 0: unscaled.
    unit_norm: scale each row to length 1.
    """

    oov_rule: OovRule
    oov_buckets: Size
    oov_std: NonNegativeFloat
    mean_norm: NonNegativeFloat
    unit_norm: bool
    null_token: bool


@dataclass(frozen=True)
class TrainConfig:
    """Optimisation of one trial.

    final_rate: share of learning_rate left in the last of max_epochs; it falls linearly by epoch.
    clip_value: largest size of a single gradient. clip_norm: largest norm of all, after that; 0 of
        either is no limit.
    train_pairs: number of training pairs used (actmodels.data.trial_data.subset); 0 for all.
    """

    optimizer: Optimizer
    learning_rate: Positive
    final_rate: PartLeft
    adagrad_accumulator: NonNegativeFloat
    clip_value: NonNegativeFloat
    clip_norm: NonNegativeFloat
    batch_size: BatchSize
    train_pairs: NonNegativeInt


@dataclass(frozen=True)
class DecomposableAttentionConfig:
    """Shape of the Decomposable Attention model (Parikh et al. 2016)."""

    width: Size
    dropout: Share
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class AdaptiveAttentionConfig:
    """Shape of the paper's Adaptive Attention model (paper section 3)."""

    width: Size
    state_size: Size
    gate_size: Size
    dropout: Share
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class HopAttentionConfig:
    """Shape of Hop Attention (ours); its state has the size of a word."""

    width: Size
    gate_size: Size
    dropout: Share
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class IterativeAttentionConfig:
    """Shape of the thesis' Iterative Attention model (thesis section 5.1).

    encoder_size: state of the GRU that reads a sentence; bidirectional adds as many.
    shared_encoder: one GRU for both sentences; the thesis has one for each.
    """

    width: Size
    encoder_size: Size
    state_size: Size
    gate_size: Size
    bidirectional: bool
    shared_encoder: bool
    dropout: Share
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class LstmEncodersConfig:
    """Shape of LSTM sentence encoders, and of tree matching, where width is the size of a node."""

    width: Size
    layer_size: Size
    dropout: Share
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class ConditionalConfig:
    """Shape of the three models of Rocktäschel et al. (2016); two_way: read both directions."""

    width: Size
    two_way: bool
    dropout: Share
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class SpinnConfig(LstmEncodersConfig):
    """Shape of SPINN-PI (Bowman et al. 2016); tracking_size: of the LSTM that follows the stack."""

    tracking_size: Size


@dataclass(frozen=True)
class PublishedConfig:
    """Deviations of the 2016 code from every model, each as a switch (actmodels.published_2016)."""

    scrambled_alignment: bool
    no_mask: bool
    file_order_batches: bool
    dropped_last_batches: bool
    evaluation_batch_size: BatchSize


@dataclass(frozen=True)
class PublishedDecomposableAttentionConfig(PublishedConfig, DecomposableAttentionConfig):
    """Decomposable Attention with any of the 2016 code's deviations."""


@dataclass(frozen=True)
class PublishedAdaptiveAttentionConfig(PublishedConfig, AdaptiveAttentionConfig):
    """Adaptive Attention with any of the 2016 code's deviations, and those of its steps."""

    compounding_dropout: bool
    batch_remainder: bool
    no_ponder_cost: bool


@dataclass(frozen=True)
class ActConfig:
    """Adaptive Computation Time (Graves 2016; paper section 3.1)."""

    epsilon: Inside
    ponder_weight: NonNegativeFloat
    max_steps: Steps
    halting_bias: Bias


@dataclass(frozen=True)
class FixedStepsConfig:
    """The same number of steps for every example, the last state classified (thesis fig. 6.2)."""

    steps: Steps


@dataclass(frozen=True)
class PonderNetConfig:
    """PonderNet (Banino et al. 2021): ponder_weight is its beta, prior_steps its 1 / lambda_p."""

    epsilon: Inside
    ponder_weight: NonNegativeFloat
    prior_steps: Annotated[float, Range(gt=1, le=1000)]
    max_steps: Steps
    halting_bias: Bias


@dataclass(frozen=True)
class DactConfig(ActConfig):
    """Differentiable ACT (Eyzaguirre & Soto 2020)."""


@dataclass(frozen=True)
class SupervisedActConfig:
    """ACT whose single states are trained too and whose ponder weight is warmed up (ours).

    warm_up_epochs: epochs until the ponder weight is whole; the first has none of it.
    step_loss_weight: weight of the mean loss of the states up to N, each classified alone.
    """

    epsilon: Inside
    ponder_weight: NonNegativeFloat
    warm_up_epochs: NonNegativeInt
    step_loss_weight: NonNegativeFloat
    max_steps: Steps
    halting_bias: Bias


@dataclass(frozen=True)
class TargetStepsConfig:
    """ACT that adapts its ponder weight to a target of mean steps (ours).

    adaptation_rate: change of the multiplier per update and step of deviation. damping: ponder
    weight per step of recent deviation. recent_share: share of the newest batch in that.
    """

    epsilon: Inside
    target_steps: Annotated[float, Range(ge=1, le=1000)]
    adaptation_rate: Positive
    damping: NonNegativeFloat
    recent_share: PartLeft
    max_steps: Steps
    halting_bias: Bias
