# The environment is .venv; every target uses it, so it need not be activated. uv makes it where
# it is installed (and fetches a Python if need be), pip elsewhere.
# make 3.81, which is macOS', heeds the PATH set below only where a shell was named
SHELL := bash
UV := $(shell command -v uv)
# each is run: a name may be there (pyenv's shims, Windows' aliases) and no Python behind it
PYTHON ?= $(shell for each in python3.11 python3.12 python3.13; do \
  $$each -c "" 2>/dev/null && command -v $$each && break; done)
# uv's build of torch: auto (what the GPU's driver asks for), cpu, cu128 ...; none: what the index has
TORCH ?= auto
VENV := .venv
RUN := $(VENV)/.installed
TESTS := $(VENV)/.installed-for-tests
DOCS := $(VENV)-docs/.installed
ifneq ($(UV),)
INSTALL = $(UV) pip install --quiet --python $(@D)/bin/python $(if $(filter-out none,$(TORCH)),--torch-backend $(TORCH))
else
INSTALL = $(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile
endif
# once, in parallel: otherwise the first processes of a run each compile the same thousands of files
COMPILE = $(@D)/bin/python -m compileall -qq -j 0 $(@D)/lib || true

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# nothing reports home
export DVC_NO_ANALYTICS := 1
export MLFLOW_DISABLE_TELEMETRY := true
export DO_NOT_TRACK := true
export RAY_USAGE_STATS_ENABLED := 0

.DEFAULT_GOAL := help
.PHONY: help setup setup-tests lint test test-all test-fast test-smoke test-slow repro report ui docs bench gpu-check lock

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s%s\n", $$1, $$2}' Makefile

setup: $(RUN)  ## make or update .venv: what runs need (requirements.lock)

setup-tests: $(TESTS)  ## and what tests need (requirements-dev.lock)

%/bin/python:
ifneq ($(UV),)
	$(UV) venv --quiet --clear --python "$(or $(PYTHON),3.11)" $*
else
	@command -v "$(PYTHON)" >/dev/null || { echo "error: $(or $(PYTHON),python3.11 to 3.13) was not found;" \
	  "install one, or uv, or name one: make setup PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $*
endif

$(RUN): requirements.lock pyproject.toml | $(VENV)/bin/python
	$(INSTALL) -r requirements.lock
	$(INSTALL) --no-deps -e .
	$(COMPILE)
	touch $@

$(TESTS): $(RUN) requirements-dev.lock
	$(INSTALL) -r requirements-dev.lock
	$(COMPILE)
	touch $@

$(DOCS): requirements-docs.lock | $(VENV)-docs/bin/python
	$(INSTALL) -r requirements-docs.lock -c requirements.lock -c requirements-dev.lock
	touch $@

lint: setup-tests  ## formatting, style, types, and the direction of imports
	ruff format --check .
	ruff check .
	mypy
	lint-imports

SLOWLY := python -m pytest --timeout=1800
TWO := -n 2 --dist loadfile --no-loadscope-reorder

test: lint test-fast test-smoke  ## before every push

test-all: lint test-fast test-slow  ## what CI runs: 40 minutes on two cores

test-fast: setup-tests  ## no Ray, no network, no GPU
	python -m pytest -n auto

test-smoke: setup-tests  ## each promise once: a tiny run of all stages, kills, the page, the server
	$(SLOWLY) -m smoke $(TWO)

test-slow: setup-tests  ## these, and campaigns of kills, clusters, the demo, simulations
	$(SLOWLY) -m "slow and not alone" $(TWO)
	$(SLOWLY) -m "slow and alone"

repro: setup  ## run what is out of date, from the corpus to the report (params.yaml)
	dvc repro

report: setup  ## write the report again from the artifacts alone
	dvc repro --single-item --force report

ui: setup  ## browse the trials in MLflow, and learn where report and Ray dashboard are (PORT=5000)
	python -m pipeline.ui --port '$(or $(PORT),5000)'

docs: $(DOCS)  ## docs/ and an API reference as pages, site/index.html; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/python -m mkdocs build

bench: setup  ## training speed against the plain loop, then what Ray and MLflow cost: up to 20 minutes
	python -m bench.training $(ARGS)
	python -m bench.sweep $(ARGS)

gpu-check:  ## is all well on this GPU, and how fast: a page for an issue (python3 with torch alone)
	python3 -m bench.gpu $(ARGS)

LOCKING := $(VENV)/locking
FREEZE = $(LOCKING)/bin/python -m pip freeze --exclude-editable | sed -E 's/\+[^ ;]+$$//'

lock: | $(VENV)/bin/python  ## write the lock files anew (ARGS="-c requirements.lock" keeps what need not change)
	$(VENV)/bin/python -m venv --clear $(LOCKING)
	$(LOCKING)/bin/python -m pip install --quiet $(ARGS) -e ".[pipeline]"
	$(FREEZE) > $(LOCKING)/run.txt
	$(LOCKING)/bin/python -m pip install --quiet $(ARGS) -e ".[pipeline,dev]"
	$(FREEZE) | grep -vxF -f $(LOCKING)/run.txt > $(LOCKING)/dev.txt
	$(LOCKING)/bin/python -m pip install --quiet $(ARGS) -e ".[pipeline,dev,docs]"
	$(FREEZE) | grep -vxF -f $(LOCKING)/run.txt -f $(LOCKING)/dev.txt > $(LOCKING)/docs.txt
	{ echo "# Exact versions of what runs need, by 'make lock', without suffixes such as +cpu."; \
	  cat $(LOCKING)/run.txt; } > $(LOCKING)/requirements.lock
	{ echo "# What tests need beside requirements.lock, by 'make lock'."; \
	  cat $(LOCKING)/dev.txt; } > $(LOCKING)/requirements-dev.lock
	{ echo "# What 'make docs' needs, with requirements.lock as its constraint, by 'make lock'."; \
	  cat $(LOCKING)/docs.txt; } > $(LOCKING)/requirements-docs.lock
	mv $(LOCKING)/*.lock .
	rm -r $(LOCKING)
