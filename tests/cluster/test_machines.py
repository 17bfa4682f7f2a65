"""The machines of these tests are what they should be: strangers to this project."""

import json
import subprocess
import sys

import psutil
import pytest
import ray
import torch

from tests.cluster.ray_cluster import Cluster
from tests.end_to_end.project import ROOT

pytestmark = pytest.mark.slow

LOOK = """
import importlib.util, json, os, sys
import ray.tune, torch
known = [name for name in ("actmodels", "dvc", "mlflow") if importlib.util.find_spec(name)]
seen = [path for path in sys.argv[1:] if os.path.exists(path)]
print(json.dumps([torch.__version__, ray.__version__, known, seen]))
"""


def test_a_worker_sees_the_store_and_nothing_of_the_project(cluster: Cluster) -> None:
    store = cluster.laboratory.store
    first, second = cluster.machine(), cluster.machine()
    inside = [f"{store}/here", "/tmp/own", "/dev/shm/own"]
    first.call("touch", *inside)
    told = second.call(str(cluster.python), "-c", LOOK, str(ROOT), *inside)
    assert json.loads(told) == [torch.__version__, ray.__version__, [], inside[:1]]


OWNER = """
import time
from tests.cluster.machines import Laboratory
laboratory = Laboratory()
print(laboratory.machine().pid, flush=True)
time.sleep(600)
"""


def test_machines_end_with_whoever_made_them(cluster: Cluster) -> None:
    command = [sys.executable, "-c", OWNER]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        machine = psutil.Process(int(owner.stdout.readline()))
        owner.kill()
    machine.wait(10)
