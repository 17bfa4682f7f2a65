"""The two-layer ReLU network that Parikh et al. use for attend, compare and aggregate."""

from torch import Tensor, nn

from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear


class FeedForward(nn.Module):
    """ReLU(W2 · ReLU(W1 · x)), with dropout before each layer (Parikh et al. 2016).

    Args:
        inputs: size of x; the hidden and the output layer have `width` units.
        dropout: probability of dropping a unit in front of each layer.
    """

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            Dropout(dropout),
            Linear(inputs, width),
            nn.ReLU(),
            Dropout(dropout),
            Linear(width, width),
            nn.ReLU(),
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Map [..., inputs] to [..., width]."""
        return self.layers(inputs)  # type: ignore[no-any-return]
