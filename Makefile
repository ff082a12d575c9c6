# The only task list. Every task sets up what it needs in .venv, once, and may be run again.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The public data sets, where they lie beside the checkout; tests and benchmarks that need them skip where they do not.
ifneq ($(wildcard ../shared/data),)
export RIFFLER_DATA ?= $(abspath ../shared/data)
endif

# Hundreds of processes are started by the tests: what is compiled once is kept, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

# $(call debian_install,PACKAGES): as root or with passwordless sudo; otherwise one line saying what to install.
debian_install = \
	if ! command -v apt-get > /dev/null; then echo "make: please install $(1) (or what your system calls it), then run make again" >&2; exit 1; fi; \
	if [ "$$(id -u)" = 0 ]; then root=(); \
	elif sudo -n true 2> /dev/null; then root=(sudo -n); \
	else echo "make: please install $(1) as root: apt-get install $(1)" >&2; exit 1; fi; \
	$${root[@]+"$${root[@]}"} apt-get update -qq; \
	$${root[@]+"$${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(1) > /dev/null

# Three test processes share two cores, as tests often wait for servers, browsers and what was killed; more threads in each
# would only wait for one another. A file stays with one of them, in the order of tests/conftest.py.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

.PHONY: help demo test pytest lint docs bench soak reproduce clean chromium postgres

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.core ## rank digits, buy labels, simulate a review and open its page; writes out/demo/
	$(BIN)/riffler rank demo -k 0.75 --kernel rbf --kernel linear --seed 0 \
	  --chart out/demo/precision_at_k.html --chart out/demo/precision_at_k.png \
	  --ranked out/demo/ranked.csv --json out/demo/results.json
	$(BIN)/riffler active demo -k 10 --runs 5 --seed 0 \
	  --chart out/demo/labels.html --chart out/demo/labels.png --json out/demo/labels.json
	$(BIN)/riffler simulate docstrings --label-column topic --labels scipy.stats --policy default --policy random \
	  --batch 20 --runs 2 --stop control --stop knee --target 0.9 --out out/demo/search \
	  --report out/demo/search.html --json out/demo/search.json
	if [ -t 0 ] && [ -t 1 ]; then once=; else once=--once; fi; \
	$(BIN)/riffler review docstrings --file out/demo/docstrings.riffler $$once \
	  --description "statistics: distributions and tests"

test: $(VENV)/.test chromium postgres ## everything CI checks: lint, types, layers, docs, doctests and tests
	$(MAKE) -j 3 lint docs pytest

pytest: $(VENV)/.test chromium postgres
	$(PYTEST) -m "not soak"

lint: $(VENV)/.test ## ruff, mypy strict and the import layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.test ## build the documentation into site/, warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.bench ## quality and speed beside the peers, both sides in one run
	$(BIN)/python benchmarks/at_k.py
	$(BIN)/python benchmarks/pairs.py
	$(BIN)/python benchmarks/structured.py
	for part in speed quality ablation; do $(BIN)/python benchmarks/active.py $$part; done
	$(BIN)/python benchmarks/search_peers.py --cache out/asreview
	$(BIN)/python -m benchmarks.search reviews topics noise starts stopping live speed
	$(BIN)/python -m benchmarks.server start next memory team
	$(BIN)/python -m benchmarks.scale index steps dask training two-stage
	$(BIN)/python -m benchmarks.scale review --documents 1000000

soak: $(VENV)/.test chromium postgres ## the long tests that `make test` leaves out, and the others on many more random cases
	$(PYTEST) -m soak --timeout 14400
	RIFFLER_HYPOTHESIS=soak $(PYTEST) -m "not soak" --timeout 14400 tests --ignore tests/test_wheel.py

reproduce: $(VENV)/.core ## run the published results again; writes out/reproduce/
	$(BIN)/riffler reproduce at-k --out out/reproduce
	$(BIN)/riffler reproduce active-at-k --out out/reproduce
	$(BIN)/riffler reproduce active-search --out out/reproduce
	$(BIN)/riffler reproduce active-pairs --out out/reproduce
	$(BIN)/riffler reproduce structured --out out/reproduce

# The browser of the browser tests: the one that RIFFLER_CHROMIUM names, or Debian's.
chromium:
	@if [ -z "$${RIFFLER_CHROMIUM:-}" ] && ! command -v chromium > /dev/null && ! command -v chromium-browser > /dev/null; \
	then $(call debian_install,chromium); fi

# The PostgreSQL server that the tests start for themselves: programs in the folder RIFFLER_POSTGRES names, or Debian's.
postgres:
	@if [ -z "$${RIFFLER_POSTGRES:-}" ] && ! compgen -G '/usr/lib/postgresql/*/bin/initdb' > /dev/null && ! command -v initdb > /dev/null; \
	then $(call debian_install,postgresql); fi

clean: ## remove the environment and everything built
	rm -rf $(VENV) out site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# Debian ships python3 without ensurepip; python3-venv brings it. An environment whose making was cut short is made anew.
$(VENV)/.made:
	@if ! command -v "$(PYTHON)" > /dev/null; then $(call debian_install,python3 python3-venv); fi
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "make: Python 3.11 or newer is needed, this is $$("$(PYTHON)" --version); pass PYTHON=..." >&2; exit 1; }
	@if ! "$(PYTHON)" -c 'import ensurepip, venv' 2> /dev/null; then $(call debian_install,python3-venv); fi
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || "$(PYTHON)" -m venv --clear $(VENV)
	@touch $@

# Stamps: an extra is installed again only when pyproject.toml changed.
$(VENV)/.core: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,docs]'
	@touch $@ $(VENV)/.core

$(VENV)/.bench: pyproject.toml | $(VENV)/.made
	@if ! "$(BIN)/python" -c 'import ctypes; ctypes.CDLL("libgomp.so.1")' 2> /dev/null; then $(call debian_install,libgomp1); fi
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@ $(VENV)/.core
