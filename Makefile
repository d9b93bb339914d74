# Every target sets up what it needs in .venv; nothing else has to be installed by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test lint bench clean

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@

demo: $(INSTALLED)  ## segment the paper's synthetic data and draw what was found
	$(BIN)/python examples/plot_synthetic.py

test: $(INSTALLED)  ## the whole suite; real-data tests run when SEQSPAN_DATA is set
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(INSTALLED)  ## style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(INSTALLED)  ## every benchmark at toy size; each file's docstring has the full command
	$(BIN)/python -m benchmarks.agreement --quick
	$(BIN)/python -m benchmarks.n_subspaces --repeats 1
	$(BIN)/python -m benchmarks.time_to_gap --sizes 100 --seconds 5
	$(BIN)/python -m benchmarks.iteration_floor
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m benchmarks.certificate_lag
	$(BIN)/python -m benchmarks.readers

clean:
	rm -rf $(VENV) out
