"""Configurations of inputs, training, networks and halting, which check the range of each setting.

A setting has the same name in params.yaml, here, in MLflow and in the result tables. No torch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from actmodels.validators import (
    BatchSize,
    Between,
    Bias,
    Checked,
    HalfOpenUnitInterval,
    NonNegativeFloat,
    NonNegativeInt,
    Positive,
    Size,
    Steps,
    setting,
)

OovRule = Literal["own", "hashed", "trained", "all_trained"]
Init = Literal["xavier", "normal"]
Optimizer = Literal["adam", "adagrad"]
OpenUnitInterval = Annotated[float, Between(gt=0, lt=1)]
PositiveFraction = Annotated[float, Between(gt=0, le=1)]


@dataclass(frozen=True)
class InputConfig(Checked):
    """Word vectors of a trial (paper appendix D).

    oov_rule: vector of a vocabulary word without a pre-trained one. `own`: a random vector.
        `hashed`: one of `oov_buckets` random vectors, by a hash of the spelling. `trained`: like
        `own`, trained for words of the training pairs. `all_trained`: the pre-trained vectors of
        words of the training pairs are trained, too (thesis).
    """

    oov_rule: OovRule
    oov_buckets: Size
    oov_std: NonNegativeFloat  # standard deviation of random vectors
    mean_norm: NonNegativeFloat  # scale pre-trained vectors to this mean norm; 0: unscaled
    unit_norm: bool  # scale each vector to norm 1
    null_token: bool  # prepend a NULL token to each sentence (Parikh et al. 2016)


@dataclass(frozen=True)
class TrainConfig(Checked):
    """Optimization of a trial."""

    optimizer: Optimizer
    learning_rate: Positive
    final_rate: PositiveFraction  # of learning_rate, in epoch max_epochs; linear by epoch
    adagrad_accumulator: NonNegativeFloat  # initial value of Adagrad's accumulator
    clip_norm: NonNegativeFloat  # maximum norm of all gradients; 0: no limit
    batch_size: BatchSize
    train_pairs: NonNegativeInt  # see actmodels.data.trial_data.subset; 0: all
    # L2 penalties in the loss, not decoupled: half of it times the squared norm, clipped with the
    # other gradients. l2: of all trained parameters but word vectors; embedding_l2: of these
    l2: NonNegativeFloat = 0.0
    embedding_l2: NonNegativeFloat = 0.0


@dataclass(frozen=True)
class DecomposableAttentionConfig(Checked):
    """Decomposable Attention (Parikh et al. 2016)."""

    width: Size
    dropout: HalfOpenUnitInterval
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class AdaptiveAttentionConfig(Checked):
    """Adaptive Attention (paper section 3)."""

    width: Size
    state_size: Size
    gate_size: Size
    dropout: HalfOpenUnitInterval
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class HopAttentionConfig(Checked):
    """Hop Attention (ours); the state size is `width`."""

    width: Size
    gate_size: Size
    dropout: HalfOpenUnitInterval
    init: Init
    init_std: Positive
    # the premise's scores times s · log(words), so that attention is not softer in longer premises
    # (Scalable-Softmax, Nakanishi 2025, eq. 4; the keys learn the factor); 0: not scaled
    log_scale: NonNegativeFloat = 0.0
    # one of its changes to the paper's step (eq. 3-5) taken back: the state starts at zero; the
    # premise is attended by a bilinear form, the same started at the identity; one window is key
    # and value; a GRU updates the state; the classifier reads the state alone
    reverted: Literal["none", "start", "query", "identity", "windows", "update", "classifier"] = (
        "none"
    )


@dataclass(frozen=True)
class IterativeAttentionConfig(Checked):
    """Iterative Attention (thesis section 5.1)."""

    width: Size
    encoder_size: Size  # state size of the sentence encoder's GRU
    state_size: Size
    gate_size: Size
    shared_encoder: bool  # one GRU for both sentences; the thesis has one for each
    dropout: HalfOpenUnitInterval
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class LstmEncodersConfig(Checked):
    """LSTM sentence encoders; also tree matching, where `width` is the size of a node."""

    width: Size
    layer_size: Size
    dropout: HalfOpenUnitInterval
    init: Init
    init_std: Positive


@dataclass(frozen=True)
class TransformerConfig(Checked):
    """A plain transformer; its feed-forward layers have four times the width."""

    width: Size
    heads: Size
    layers: Size
    dropout: HalfOpenUnitInterval
    init: Init
    init_std: Positive

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.width % self.heads:
            yield f"width is {self.width}; must be a multiple of heads, {self.heads}"


@dataclass(frozen=True)
class ConditionalConfig(DecomposableAttentionConfig):
    """The models of Rocktäschel et al. (2016), with the same settings."""


@dataclass(frozen=True)
class SpinnConfig(LstmEncodersConfig):
    """SPINN-PI (Bowman et al. 2016); tracking_size: state size of the tracking LSTM."""

    tracking_size: Size


@dataclass(frozen=True)
class PublishedConfig(Checked):
    """Deviations of the 2016 code that apply to both its models (actmodels.published_2016)."""

    scrambled_alignment: bool
    no_mask: bool
    file_order_batches: bool
    dropped_last_batches: bool
    evaluation_batch_size: BatchSize


@dataclass(frozen=True)
class PublishedDecomposableAttentionConfig(PublishedConfig, DecomposableAttentionConfig):
    """Decomposable Attention with deviations of the 2016 code."""


@dataclass(frozen=True)
class PublishedAdaptiveAttentionConfig(PublishedConfig, AdaptiveAttentionConfig):
    """Adaptive Attention with deviations of the 2016 code."""

    compounding_dropout: bool
    batch_remainder: bool
    no_ponder_cost: bool


EPSILON = "probability that may remain when an example halts"
MAX_STEPS = "number of steps at which every example halts"
HALTING_BIAS = "initial bias of the halting unit: an untrained one takes 1 / sigmoid(bias) steps"
WARM_UP = "epochs in which the ponder weight grows from 0 to its full value"


@dataclass(frozen=True)
class WeightedConfig(Checked):
    """Settings of every mechanism with a halting unit and a ponder weight.

    With the bias 0 or Graves' 1 an untrained network takes two steps and often stays there
    (docs/library.md); with -1 it takes four.
    """

    epsilon: OpenUnitInterval = setting(0.01, EPSILON)
    ponder_weight: NonNegativeFloat = setting(0.001, "weight of the ponder cost in the objective")
    max_steps: Steps = setting(12, MAX_STEPS)
    halting_bias: Bias = setting(-1.0, HALTING_BIAS)


@dataclass(frozen=True)
class ActConfig(WeightedConfig):
    """Adaptive Computation Time (Graves 2016; paper section 3.1)."""

    warm_up_epochs: NonNegativeInt = setting(0, WARM_UP, optional=True)


@dataclass(frozen=True)
class FixedStepsConfig(Checked):
    """The same number of steps for every example (thesis fig. 6.2)."""

    steps: Steps = setting(4, "number of steps")


@dataclass(frozen=True)
class RandomStepsConfig(Checked):
    """A random number of steps in each training batch, as looped models train."""

    mean_steps: Annotated[float, Between(ge=1, le=1000)] = setting(
        4.0, "mean number of steps in training"
    )
    max_steps: Steps = setting(12, "number of steps in evaluation, and at most in training")


@dataclass(frozen=True)
class PonderNetConfig(WeightedConfig):
    """PonderNet (Banino et al. 2021); ponder_weight: beta."""

    prior_steps: Annotated[float, Between(gt=1, le=1000)] = setting(
        4.0, "mean number of steps of the geometric prior, 1 / lambda_p"
    )


@dataclass(frozen=True)
class DactConfig(WeightedConfig):
    """Differentiable ACT (Eyzaguirre & Soto 2020)."""

    lookahead: NonNegativeInt = setting(
        0, "further steps that must not change the class; 0: all up to max_steps", optional=True
    )


@dataclass(frozen=True)
class UniformPonderNetConfig(WeightedConfig):
    """PonderNet with a uniform prior of the steps; ponder_weight: beta."""


@dataclass(frozen=True)
class StepActConfig(ActConfig):
    """ACT whose own step decides: an example halts at the first h_n of at least `threshold`."""

    threshold: OpenUnitInterval = setting(0.5, "halting probability at which an example halts")


@dataclass(frozen=True)
class SupervisedActConfig(WeightedConfig):
    """ACT with a loss on each state and a warm-up of the ponder weight (ours)."""

    warm_up_epochs: NonNegativeInt = setting(1, WARM_UP)
    step_loss_weight: NonNegativeFloat = setting(0.3, "weight of the mean loss of the states to N")


@dataclass(frozen=True)
class TargetStepsConfig(Checked):
    """ACT that adapts its ponder weight to a target mean number of steps (ours)."""

    epsilon: OpenUnitInterval = setting(0.01, EPSILON)
    target_steps: Annotated[float, Between(ge=1, le=1000)] = setting(4.0, "mean number of steps")
    adaptation_rate: Positive = setting(
        0.00003, "change of the multiplier per update and step of deviation"
    )
    damping: NonNegativeFloat = setting(0.01, "ponder weight per step of recent deviation")
    recent_share: PositiveFraction = setting(
        0.02, "weight of the newest batch in the recent deviation"
    )
    max_steps: Steps = setting(12, MAX_STEPS)
    halting_bias: Bias = setting(-1.0, HALTING_BIAS)


@dataclass(frozen=True)
class MlpActConfig(ActConfig):
    """ACT whose halting unit has a hidden layer."""

    hidden_size: Size = setting(32, "units of the hidden layer")


@dataclass(frozen=True)
class ChangeActConfig(ActConfig):
    """ACT whose halting unit reads the state and its change in the step."""


@dataclass(frozen=True)
class ConfidenceExitConfig(Checked):
    """Exit at the first step whose class has at least this probability."""

    min_confidence: OpenUnitInterval = setting(0.9, "probability of the class at the exit")
    max_steps: Steps = setting(12, MAX_STEPS)


@dataclass(frozen=True)
class PatienceExitConfig(Checked):
    """Exit once the class has not changed for this many steps."""

    unchanged_steps: Steps = setting(2, "steps without a change of the class at the exit")
    max_steps: Steps = setting(12, MAX_STEPS)


@dataclass(frozen=True)
class FixedPointExitConfig(Checked):
    """Exit once the state stands still."""

    min_change: Positive = setting(0.05, "norm of the change over that of the state at the exit")
    max_steps: Steps = setting(12, MAX_STEPS)


@dataclass(frozen=True)
class CorrectnessExitConfig(Checked):
    """Exit at the first step whose answer a unit believes to be right."""

    min_correctness: OpenUnitInterval = setting(0.5, "probability that the answer is right")
    unit_weight: NonNegativeFloat = setting(1.0, "weight of the unit's loss in the objective")
    max_steps: Steps = setting(12, MAX_STEPS)
    halting_bias: Bias = setting(-1.0, "initial bias of the unit")


# Mechanisms that answer from each state, and have no mean state to pass to the next input.
MixingConfig = PonderNetConfig | DactConfig | UniformPonderNetConfig
AnsweringConfig = MixingConfig | ConfidenceExitConfig | PatienceExitConfig | CorrectnessExitConfig


@dataclass(frozen=True)
class ActRnnConfig(Checked):
    """A recurrent network of one layer; init_std applies to init `normal`."""

    cell: Literal["rnn", "lstm"]
    state_size: Size
    init: Init
    init_std: Positive
