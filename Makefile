# Every target sets up what it needs in .venv; nothing else has to be installed by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test browser coverage lint docs mutants bench clean

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@

demo: $(INSTALLED)  ## render a clip, segment it, check the answer, write its report
	$(BIN)/seqspan demo --out out/demo

test: $(INSTALLED) browser  ## the whole suite; real-data tests run when SEQSPAN_DATA is set
	$(BIN)/python -m pytest $(PYTEST_ARGS)

browser:  ## the tests look at the report in a real Chromium
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	 { apt-get update -q && apt-get install -y -q chromium; } || \
	 { echo "The tests of the report need Chromium: please install the package chromium."; exit 1; }

# Compiled loops are invisible to the tracer: the tests of every one of them run again as plain Python.
KERNEL_TESTS := tests/solvers/test_sweeps.py tests/test_span_search.py \
    tests/test_evidence.py::test_all_spans_at_once_cost_what_each_costs

# GPU_COVERAGE names data files brought from a machine with a GPU (docs/testing.md); without, gpu/ is measured by its CPU tests.
coverage: $(INSTALLED) browser  ## lines and branches that the tests run; each has to be above 95 %
	rm -rf out/coverage out/coverage.json
	$(BIN)/coverage run -m pytest $(PYTEST_ARGS)
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest $(KERNEL_TESTS)
	$(BIN)/coverage combine --keep --quiet out/coverage $(GPU_COVERAGE)
	$(BIN)/coverage json --quiet -o out/coverage.json
	$(BIN)/python -m tests.coverage_figures out/coverage.json

lint: $(INSTALLED)  ## style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(INSTALLED)  ## the documentation site, without a network; a warning or a broken link is an error
	$(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going --nitpicky --quiet docs out/docs
	$(BIN)/python docs/check_links.py out/docs README.md CONTRIBUTING.md CHANGELOG.md
	@echo "The documentation starts at out/docs/index.html"

mutants: $(INSTALLED)  ## which small changes of the code does no test notice? 90 % have to be; some 30 minutes
	$(BIN)/pip install --quiet --editable ".[mutants]"
	$(BIN)/python -m tests.mutants $(MUTANTS)

bench: $(INSTALLED)  ## every benchmark at toy size; each file's docstring has the full command
	$(BIN)/python -m benchmarks.agreement --quick
	$(BIN)/python -m benchmarks.noise
	$(BIN)/python -m benchmarks.errata --most 100
	$(BIN)/python -m benchmarks.n_subspaces --repeats 1
	$(BIN)/python -m benchmarks.time_to_gap --sizes 100 --seconds 5
	$(BIN)/python -m benchmarks.iteration_floor
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m benchmarks.certificate_lag
	$(BIN)/python -m benchmarks.readers
	$(BIN)/python -m benchmarks.landmarks scaling
	$(BIN)/python -m benchmarks.online rate --samples 5000
	$(BIN)/python -m benchmarks.cluster

clean:
	rm -rf $(VENV) out docs/gallery docs/reference/generated
