"""Adaptive computation: halting mechanisms for any network, and models of sentence pairs."""

__version__ = "2.0.0"
