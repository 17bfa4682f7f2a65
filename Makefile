# The environment is .venv; every target uses it, so it need not be activated.
PYTHON ?= python3.11
VENV := .venv
STAMP := $(VENV)/.installed

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# nothing reports home
export DVC_NO_ANALYTICS := 1
export MLFLOW_DISABLE_TELEMETRY := true
export DO_NOT_TRACK := true
export RAY_USAGE_STATS_ENABLED := 0

.DEFAULT_GOAL := help
.PHONY: help setup lint test test-fast test-slow repro report ui bench lock

help:  ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 20

setup: $(STAMP)  ## make or update .venv from requirements.lock

$(STAMP): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "error: $(PYTHON) was not found; install Python 3.11" \
	  "or name another one (3.11 or later): make setup PYTHON=/path/to/python" >&2; exit 1; }
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

lint: setup  ## formatting, style, types, and the direction of imports
	ruff format --check .
	ruff check .
	mypy
	lint-imports

test: lint test-fast test-slow  ## everything

test-fast: setup  ## no Ray, no network, no GPU: two and a half minutes on two cores
	python -m pytest -n auto

test-slow: setup  ## Ray, whole pipelines, kills and resumptions, pages in a browser: minutes
	python -m pytest -m "slow and not alone" -n 2 --dist loadscope --no-loadscope-reorder --timeout=1800
	python -m pytest -m "slow and alone" --timeout=1800

repro: setup  ## run what is out of date, from the corpus to the report (params.yaml)
	dvc repro

report: setup  ## write the report again from the artefacts alone
	dvc repro --single-item --force report

ui: setup  ## browse the trials in MLflow, and learn where report and Ray dashboard are (PORT=5000)
	python -m pipeline.ui --port $(or $(PORT),5000)

bench: setup  ## measure this software on this machine (artefacts/bench): up to 40 minutes
	python -m bench $(ARGS)

lock:  ## write requirements.lock from what .venv has
	{ echo "# Exact versions, from .venv by 'make lock'. Local suffixes such as +cpu are left out."; \
	  $(VENV)/bin/python -m pip freeze --exclude-editable | sed -E 's/\+[^ ;]+$$//'; } > requirements.lock.tmp
	mv requirements.lock.tmp requirements.lock
