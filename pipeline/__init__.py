"""The stages, and the command `act-nli`."""
