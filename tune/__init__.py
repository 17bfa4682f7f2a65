"""Distributed sweeps on Ray Tune, tracked in MLflow."""

import os

# Ray reads these when it is imported; those that the user has set stay.
for _name, _value in {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DASHBOARD_STARTUP_TIMEOUT_S": "120",  # a busy machine needs more than Ray's 60 s
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",  # MLflow is the log
    "TUNE_GLOBAL_CHECKPOINT_S": "1e9",  # from its snapshots nothing is restored (tune/sweep.py)
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
}.items():
    os.environ.setdefault(_name, _value)
