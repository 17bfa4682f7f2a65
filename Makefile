# Every target uses the environment .venv without activation. uv creates it if installed (and
# downloads Python if necessary), otherwise pip.
# make 3.81 (macOS) applies the PATH below only if SHELL is set. DVC runs stages in it: a service
# account may have nologin, and a user id without a name no LOGNAME, on which getpass fails.
export SHELL := bash
export LOGNAME ?= $(or $(USER),$(shell id -u))
UV := $(shell command -v uv)
# run each candidate: pyenv shims and Windows aliases exist without a Python behind them
PYTHON ?= $(shell for each in python3.11 python3.12 python3.13; do \
  $$each -c "" 2>/dev/null && command -v $$each && break; done)
# uv's torch build: auto (matches the GPU driver), cpu, cu128 ...; none: the index's default
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
# once, in parallel: otherwise the first processes of a run all compile the same files
COMPILE = $(@D)/bin/python -m compileall -qq -j 0 $(@D)/lib || true

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# no telemetry
export DVC_NO_ANALYTICS := 1
export MLFLOW_DISABLE_TELEMETRY := true
export DO_NOT_TRACK := true
export RAY_USAGE_STATS_ENABLED := 0

.DEFAULT_GOAL := help
.PHONY: help setup setup-tests lint test test-all test-fast test-smoke test-slow repro schema report ui docs bench ranges gpu-check gpu-session lock

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s%s\n", $$1, $$2}' Makefile

setup: $(RUN)  ## create or update .venv with the runtime requirements (requirements.lock)

setup-tests: $(TESTS)  ## setup, and the test requirements (requirements-dev.lock)

%/bin/python:
ifneq ($(UV),)
	$(UV) venv --quiet --clear --python "$(or $(PYTHON),3.11)" $*
else
	@command -v "$(PYTHON)" >/dev/null || { echo "error: $(or $(PYTHON),python3.11 to 3.13) not found;" \
	  "install it or uv, or run: make setup PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $*
endif

$(RUN): requirements.lock pyproject.toml | $(VENV)/bin/python
	$(INSTALL) -r requirements.lock
	$(INSTALL) --no-deps -e .
	ln -sf ../../pipeline/act-nli $(VENV)/bin/act-nli
	[ -e .git ] || git rev-parse 2>/dev/null || dvc config --local core.no_scm true  # a ZIP download
	$(COMPILE)
	touch $@

$(TESTS): $(RUN) requirements-dev.lock
	$(INSTALL) -r requirements-dev.lock
	$(COMPILE)
	touch $@

$(DOCS): requirements-docs.lock | $(VENV)-docs/bin/python
	$(INSTALL) -r requirements-docs.lock -c requirements.lock -c requirements-dev.lock
	touch $@

lint: setup-tests  ## formatting, style, types, import contracts, language
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	python .ci/language.py

SLOWLY := python -m pytest --timeout=1800
TWO := -n 2 --dist loadfile --no-loadscope-reorder

test: lint test-fast test-smoke  ## before every push

test-all: lint test-fast test-slow  ## everything that CI runs: half an hour on two cores

test-fast: setup-tests  ## without Ray, network and GPU
	python -m pytest -n auto

test-smoke: setup-tests  ## one test per feature: a tiny run of all stages, kills, the page, the server
	$(SLOWLY) -m smoke $(TWO)

test-slow: setup-tests  ## smoke tests, kills, clusters, the demo, simulations
	$(SLOWLY) -m "slow and not alone" $(TWO)
	$(SLOWLY) -m "slow and alone"

repro: setup  ## run all out-of-date stages, from the corpus to the report (params.yaml)
	@[ -s .dvc/tmp/rwlock ] || rm -f .dvc/tmp/rwlock  # empty if DVC was killed while it wrote it
	@mkdir -p artifacts/studies  # the report depends on it, also without a study
	export ACT_NLI_SINCE=$$(date +%s) && dvc repro && \
	  sh pipeline/python -m pipeline summary

schema: setup  ## write params.schema.json, which editors read (named in params.yaml's first line)
	sh pipeline/python -m pipeline schema > params.schema.json

report: setup  ## rewrite the report from the artifacts
	dvc repro --single-item --force report

ui: setup  ## start the MLflow UI, and print the paths of report and Ray dashboard (PORT=5000)
	sh pipeline/python -m pipeline.ui --port '$(or $(PORT),5000)'

docs: $(DOCS)  ## build docs/ and the API reference, site/index.html; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/python -m mkdocs build

bench: setup  ## speed of training and sweeps against plain code: up to 10 minutes
	sh pipeline/python -m bench.training $(ARGS)
	sh pipeline/python -m bench.loop $(ARGS)
	sh pipeline/python -m bench.sweep $(ARGS)

ranges: setup  ## expected ranges of the demo's results, on emulated processors: half an hour on a core
	sh pipeline/python -m bench.ranges $(ARGS)

gpu-check:  ## correctness and speed on this GPU, as text for an issue (needs only torch)
	python3 -m bench.gpu $(ARGS)

gpu-session:  ## what is not known of this project on a GPU, in nine minutes (bench/gpu_archive.sh)
	python3 -m bench.gpu_session $(ARGS)

LOCKING := $(VENV)/locking
FREEZE = $(LOCKING)/bin/python -m pip freeze --exclude-editable | sed -E 's/\+[^ ;]+$$//'

lock: | $(VENV)/bin/python  ## update the lock files (ARGS="-c requirements.lock" keeps compatible versions)
	$(VENV)/bin/python -m venv --clear $(LOCKING)
	$(LOCKING)/bin/python -m pip install --quiet $(ARGS) -e ".[pipeline]"
	$(FREEZE) > $(LOCKING)/run.txt
	$(LOCKING)/bin/python -m pip install --quiet $(ARGS) -e ".[pipeline,dev]"
	$(FREEZE) | grep -vxF -f $(LOCKING)/run.txt > $(LOCKING)/dev.txt
	$(LOCKING)/bin/python -m pip install --quiet $(ARGS) -e ".[pipeline,dev,docs]"
	$(FREEZE) | grep -vxF -f $(LOCKING)/run.txt -f $(LOCKING)/dev.txt > $(LOCKING)/docs.txt
	{ echo "# Runtime requirements, exact versions by 'make lock', without suffixes such as +cpu."; \
	  cat $(LOCKING)/run.txt; } > $(LOCKING)/requirements.lock
	{ echo "# Test requirements in addition to requirements.lock, by 'make lock'."; \
	  cat $(LOCKING)/dev.txt; } > $(LOCKING)/requirements-dev.lock
	{ echo "# Requirements of 'make docs', constrained by requirements.lock, by 'make lock'."; \
	  cat $(LOCKING)/docs.txt; } > $(LOCKING)/requirements-docs.lock
	mv $(LOCKING)/*.lock .
	rm -r $(LOCKING)
