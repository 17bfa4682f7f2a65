"""Measurements of this software itself: `make bench`."""
