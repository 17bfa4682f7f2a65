"""The studies, one folder each."""
