# Every target sets up what it needs in .venv; nothing else has to be installed by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test browser coverage lint docs mutants lock test-lowest test-newest test-bare versions package audit check-tag bench clean

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --editable ".[dev]"
	touch $@

demo: $(INSTALLED)  ## render a clip, segment it, check the answer, write its report
	$(BIN)/seqspan demo --out out/demo

# a process for each core, as long as there are tests; with --numprocesses 0 everything runs in one, as a debugger needs it
PARALLEL := --numprocesses logical --maxprocesses 8 --dist worksteal

test: $(INSTALLED) browser  ## the whole suite; real-data tests run when SEQSPAN_DATA is set
	$(BIN)/python -m pytest $(PARALLEL) $(PYTEST_ARGS)

browser:  ## the tests look at the report in a real Chromium
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	 { apt-get update -q && apt-get install -y -q chromium; } || \
	 { echo "The tests of the report need Chromium: please install the package chromium."; exit 1; }

# Compiled loops are invisible to the tracer: the tests of every one of them run again as plain Python.
LOOP_TESTS := tests/solvers/fast/test_sweeps.py tests/cuts/online/test_paths.py tests/cuts/online/test_search.py \
    $(addprefix tests/cuts/ordered/, test_search.py test_cost.py test_merging.py test_labels.py test_paths.py test_settling.py test_transitions.py) \
    $(addprefix tests/solvers/fast/test_coarse.py::test_, prolonged_states_are_consistent \
    how_many_steps_are_carried_over_at_once_does_not_matter)

# GPU_COVERAGE names data files brought from a machine with a GPU (docs/testing.md); without, gpu/ is measured by its CPU tests.
coverage: export SEQSPAN_ROOT := $(CURDIR)
coverage: $(INSTALLED) browser  ## lines and branches that the tests run; each has to be above 95 %
	rm -rf out/coverage out/coverage.json
	$(BIN)/coverage run -m pytest $(PYTEST_ARGS)
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest $(LOOP_TESTS)
	$(BIN)/coverage combine --keep --quiet out/coverage $(GPU_COVERAGE)
	$(BIN)/coverage json --quiet -o out/coverage.json
	$(BIN)/python -m tests.tools.coverage_figures out/coverage.json

lint: $(INSTALLED)  ## style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(INSTALLED)  ## the documentation site, without a network; a warning or a broken link is an error
	$(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going --nitpicky --quiet docs out/docs
	$(BIN)/python docs/check_links.py out/docs README.md CONTRIBUTING.md CHANGELOG.md
	@echo "The documentation starts at out/docs/index.html"

mutants: $(INSTALLED)  ## which small changes of the code does no test notice? 90 % have to be
	$(BIN)/pip install --quiet --editable ".[mutants]"
	$(BIN)/python -m tests.tools.mutants $(MUTANTS)

# Other versions than those of .venv, each in an environment of its own: the lowest and the newest that pyproject.toml allows.
# ON=3.14 chooses the Python; on one for which a lowest version has no wheel, it is the lowest that has.
ENVIRONMENTS := out/environments
UV := $(BIN)/uv --no-config --quiet
ON ?= 3.11
COMPILE := $(UV) pip compile --upgrade --extra all --extra test --no-annotate --custom-compile-command "make lock"
# Old packages call what new ones deprecate; in all other runs every warning is an error.
OLD_MEETS_NEW := -W default::DeprecationWarning -W default::PendingDeprecationWarning

lock: $(INSTALLED)  ## pin the lowest and the newest versions that pyproject.toml allows today
	$(COMPILE) --resolution lowest-direct --only-binary :all: --python-version 3.11 -o requirements/lowest.txt pyproject.toml
	$(COMPILE) --universal --python-version 3.11 -o requirements/newest.txt pyproject.toml

versions:  ## the suite with the lowest versions on Python 3.11, and with the newest on the newest Python
	$(MAKE) test-lowest ON=3.11
	$(MAKE) test-newest ON=3.14

test-lowest: $(INSTALLED) browser  ## the suite, against an installed package, with the lowest versions
	$(UV) venv --clear --python $(ON) $(ENVIRONMENTS)/lowest
	$(UV) pip install --python $(ENVIRONMENTS)/lowest --resolution lowest-direct --only-binary :all: --no-binary seqspan \
	    --refresh-package seqspan $(if $(filter 3.11,$(ON)),--constraint requirements/lowest.txt) ".[all,test]"
	$(ENVIRONMENTS)/lowest/bin/python -m pytest $(PARALLEL) $(OLD_MEETS_NEW) $(PYTEST_ARGS) tests --pyargs seqspan

test-newest: $(INSTALLED) browser  ## the suite, against an installed package, with the newest versions
	$(UV) venv --clear --python $(ON) $(ENVIRONMENTS)/newest
	$(UV) pip install --python $(ENVIRONMENTS)/newest --refresh-package seqspan --constraint requirements/newest.txt ".[all,test]"
	$(ENVIRONMENTS)/newest/bin/python -m pytest $(PARALLEL) $(PYTEST_ARGS) tests --pyargs seqspan

BARE := $(CURDIR)/$(ENVIRONMENTS)/bare

test-bare: $(INSTALLED)  ## the wheel with only its required packages: a table in, a report out, errors that name extras
	rm -rf $(BARE)
	$(UV) venv --python $(ON) $(BARE)
	$(UV) build --wheel --out-dir $(BARE)/dist
	$(UV) pip install --python $(BARE) --constraint requirements/newest.txt $(BARE)/dist/*.whl
	SEQSPAN_BARE_PYTHON=$(BARE)/bin/python $(BIN)/python -m pytest $(PYTEST_ARGS) tests/tools/test_bare_install.py

# Wheel and sdist as they would be uploaded. The tests are those of the unpacked sdist without its src, so that the package
# can come from the installed wheel alone; PACKAGE_TESTS=tests runs all of them.
PACKAGE := out/package
PACKAGE_TESTS ?= tests/cli/test_demo.py tests/tools/test_release.py tests/estimators/test_estimators.py tests/readers/test_read.py

package: $(INSTALLED)  ## build wheel and sdist, check them, install the wheel in an empty environment and test it there
	rm -rf $(PACKAGE)
	$(UV) build --out-dir $(PACKAGE)/dist
	$(UV) build --wheel --out-dir $(PACKAGE)/of_checkout
	$(BIN)/twine check --strict $(PACKAGE)/dist/*
	$(BIN)/python -m tests.tools.distributions $(PACKAGE)/dist $(PACKAGE)/of_checkout/*.whl
	$(UV) venv --python $(ON) $(ENVIRONMENTS)/wheel --clear
	$(UV) pip install --python $(ENVIRONMENTS)/wheel --constraint requirements/newest.txt "$$(ls $(PACKAGE)/dist/*.whl)[all,test]"
	mkdir $(PACKAGE)/tree && tar xzf $(PACKAGE)/dist/*.tar.gz -C $(PACKAGE)/tree --strip-components 1
	rm -r $(PACKAGE)/tree/src
	cd $(PACKAGE)/tree && ../../../$(ENVIRONMENTS)/wheel/bin/python -m pytest $(PYTEST_ARGS) $(PACKAGE_TESTS) --pyargs seqspan
	cd $(PACKAGE) && ../../$(ENVIRONMENTS)/wheel/bin/seqspan demo --out demo

audit: $(INSTALLED)  ## known vulnerabilities of the versions that are tested, as PyPI knows them
	$(BIN)/python requirements/audit.py requirements/newest.txt

check-tag: $(INSTALLED)  ## is this commit tagged as the version that it holds?
	@version=$$($(BIN)/python -c "import seqspan; print(seqspan.__version__)"); \
	 git tag --points-at HEAD | grep --quiet --line-regexp --fixed-strings "v$$version" || \
	 { echo "This commit holds version $$version, but has no tag v$$version."; exit 1; }

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
	$(BIN)/python -m benchmarks.end_to_end
	$(BIN)/python -m benchmarks.landmarks scaling
	$(BIN)/python -m benchmarks.stream rate --samples 5000
	$(BIN)/python -m benchmarks.many
	$(BIN)/python -m benchmarks.cluster
	$(BIN)/python -m benchmarks.soak --fits 100
	$(BIN)/python -m benchmarks.soak folders --histories 50
	$(BIN)/python -m benchmarks.soak memory --sizes 300 --dtypes float64 --names fast "fast + ordered"

clean:
	rm -rf $(VENV) out docs/gallery docs/reference/generated
