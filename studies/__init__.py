"""The studies, one folder each. Ctrl-C during the imports of a stage also prints one line."""

import sys

if sys.argv[0] == "-m":  # a stage starts; a worker has no package `pipeline`
    import pipeline  # noqa: F401
