# Two commands set everything up: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
GROUPS_OF = $(shell $(PYTHON) -c "import sys, tomllib; groups = tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']; print(*(repr(name) for group in sys.argv[1:] for name in groups[group]))" $(1))

LOWEST := .venv-lowest

# Tests start many processes: each file is compiled once, also where the environment forbids it.
test: export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-lowest soak check bench wheel reference picture format clean

demo: .venv/installed ## set up, then run the main job
	$(BIN)/halfnoise demo

test: .venv/developed ## set up, then run every test, or a part: make test ARGS="tests/design"
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto $(ARGS)

# What is smaller in `make test` is here in full size: whatever asks support.soak.
SOAK ?= 50
soak: SHELL := /bin/bash -o pipefail
soak: export HALFNOISE_SOAK = $(SOAK)
soak: .venv/developed ## attacks, faults and fuzzing at full size, other ones each time, with figures: hours
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto -rfEP \
		tests/attack tests/contract tests/data tests/design tests/ledger tests/privacy \
		tests/statistical $(ARGS) \
		| tee .venv/soak.log | grep --line-buffered --extended-regexp '^soak: |^(FAILED|ERROR)|passed|failed'

# The parts where a version can break privacy or exactness, and the command with its pictures.
test-lowest: $(LOWEST)/installed ## the same with the lowest versions that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest --numprocesses auto tests/noise tests/design tests/contract tests/data
	$(LOWEST)/bin/halfnoise demo --folder $(LOWEST)/demo
	$(LOWEST)/bin/halfnoise figures $(LOWEST)/figures

check: .venv/developed ## lint, format and strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/developed ## speed and memory, as ratios within one run
	$(BIN)/python -m bench

# Without isolation: what builds is in the environment already, and nothing else is fetched.
wheel: .venv/developed ## build dist/halfnoise-VERSION.tar.gz, and from it the wheel beside it
	rm -rf dist
	$(BIN)/python -m build --no-isolation

reference: .venv/developed ## write docs/cli.md anew from the command's help
	$(BIN)/python tests/support/cli_reference.py > docs/cli.md

picture: .venv/developed ## write docs/page.png anew: what README shows; needs Chromium
	$(BIN)/python tests/support/page_picture.py

format: .venv/developed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv $(LOWEST) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable .
	touch $@

.venv/developed: .venv/installed
	$(PIP) --editable '.[report]' $(call GROUPS_OF,test check)
	touch $@

# Nothing is pinned here: uv takes the lowest version of all that is declared.
$(LOWEST)/installed: .venv/bin/python pyproject.toml
	$(PIP) uv
	$(BIN)/uv venv --quiet --clear --python 3.11 $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
		--editable '.[report]' --group test
	touch $@
