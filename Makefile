# From a fresh clone: `make demo`, `make test` and `make docs`. All can be repeated; they install what they need first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
TOOLS := $(VENV)/.tools
CODE := src bench tests examples docs
# One thread per library: two pytest workers already use two cores.
PYTEST := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal
SLOW := slow or browser
# Without byte code on disk, every worker and every process of a test would compile torch and all else again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all slow warm check docs build attack audit install clean

help:
	@echo "make demo      install GraphGlass into $(VENV), rank bundled molecules by both detectors, write demo-output/report.html"
	@echo "make test      install the tools too, then style, types, import rules and the fast tests; about six minutes on two cores"
	@echo "make test-all  the same, and the slow and browser tests; a coverage below 90% is an error"
	@echo "make check     style, types and import rules only"
	@echo "make docs      build the documentation into site/; a warning or a dead link is an error"
	@echo "make build     build the wheel and the source distribution into dist/"
	@echo "make attack    damaged inputs, load, kill -9, neighbouring files, hostile pages: 15 minutes; updates docs/security.md;"
	@echo "               SHARE=0.1 runs a tenth of it and records nothing"
	@echo "make audit     published security holes of the pinned dependencies; needs a network"
	@echo "make clean     remove $(VENV), demo-output, site and dist"

$(BASE): pyproject.toml constraints.txt
	@echo "Installing GraphGlass into $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@# Without byte code of packages that the demo never imports: half the time.
	@$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[glass]'
	@touch $@

$(TOOLS): $(BASE) bench/pyproject.toml
	@echo "Installing the extras, the benchmark and the tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev,docs]' --editable './bench[all]'
	@touch $@

install: $(TOOLS)

demo: $(BASE)
	@echo "Fitting on MUTAG's normal molecules and ranking the held-out ones ..."
	@$(BIN)/glass demo --output demo-output

check: $(TOOLS)
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compile the kernels once; two workers would each do it.
warm: $(TOOLS)
	$(BIN)/python tests/warm_up.py

test: $(TOOLS)
	@# The checks on one core, the compilation on the other.
	@$(MAKE) --no-print-directory -j2 --output-sync=target check warm
	$(PYTEST) -m "not ($(SLOW))" --durations=15 $(if $(COVERAGE),--cov --cov-report=)

slow: warm
	$(PYTEST) -m "$(SLOW)" --durations=15 $(if $(COVERAGE),--cov --cov-append --cov-report=term:skip-covered --cov-fail-under=90)

test-all:
	$(MAKE) test COVERAGE=1
	$(MAKE) slow COVERAGE=1

docs: $(TOOLS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

build: $(TOOLS)
	$(BIN)/python -m build

attack: $(TOOLS)
	$(BIN)/python bench/scripts/attack.py --share $(or $(SHARE),1)

audit:
	$(PYTHON) -m pip install --quiet pip-audit==2.10.1
	$(PYTHON) -m pip_audit --requirement constraints.txt --no-deps --disable-pip

clean:
	rm -rf $(VENV) demo-output site dist
