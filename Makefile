# Two commands on a fresh machine: make demo, make test.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip --disable-pip-version-check

.PHONY: demo test test-slow test-peers test-browser test-cuda coverage lint types docs bench clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) install --quiet --constraint constraints.txt --editable .
	touch $@

.venv/developed: .venv/installed
	$(PIP) install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

demo: .venv/installed  ## learn a known graph and the Sachs protein network; a page leads to both reports
	$(BIN)/precede demo

test: .venv/developed  ## the whole test suite
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 -m "not slow and not peers"

test-slow: .venv/developed  ## longer checks
	$(BIN)/pytest -m slow

.venv-peers/installed: pyproject.toml constraints-peers.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip --disable-pip-version-check install --quiet --constraint constraints-peers.txt --editable ".[peers]"
	touch $@

test-peers: .venv-peers/installed  ## against gcastle, lingam, causal-learn, DoWhy, gadjid and Dask, in .venv-peers
	OMP_NUM_THREADS=1 .venv-peers/bin/pytest -m "peers or cluster" tests

test-browser: .venv/developed  ## reports, the graph and the studio in headless Chromium; does nothing without one on the PATH
	$(BIN)/pytest -m browser tests

test-cuda: .venv/developed  ## what needs an NVIDIA GPU, on a machine that has one
	$(BIN)/pytest -m cuda tests/search/test_cuda.py

coverage: .venv/developed  ## which lines the suite runs, into htmlcov/
	OMP_NUM_THREADS=1 $(BIN)/coverage run -m pytest -n 2 -m "not slow and not peers"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report | tail -1

lint: .venv/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/developed
	$(BIN)/mypy

.venv/documented: .venv/developed
	$(PIP) install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

docs: .venv/documented  ## the documentation, with its gallery, into docs/_build/html; any warning is an error
	rm -rf docs/generated  # a stub of a name that is gone would be a warning
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -E -W --keep-going --quiet -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: .venv/developed  ## the tables that the README quotes
	$(BIN)/python benchmarks/linear.py

clean:
	rm -rf .venv .venv-peers results build dist htmlcov .coverage docs/_build docs/generated docs/gallery
