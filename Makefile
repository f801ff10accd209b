# From a fresh clone: `make demo`, `make test` and `make docs`. All can be repeated; they install what they need first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CODE := src bench tests examples docs

.PHONY: help demo test check docs build fuzz install clean

help:
	@echo "make demo   install into $(VENV), fit on bundled molecules, rank held-out ones, write demo-output/report.html"
	@echo "make test   install into $(VENV), then run the checks and the tests; a coverage of src below 90% is an error"
	@echo "make check  style, types and import rules only"
	@echo "make docs   build the documentation into site/; a warning or a dead link is an error"
	@echo "make build  build the wheel and the source distribution into dist/"
	@echo "make fuzz   damaged files and requests against every reader, some minutes; updates docs/security.md"
	@echo "make clean  remove $(VENV), demo-output, site and dist"

$(STAMP): pyproject.toml bench/pyproject.toml constraints.txt
	@echo "Installing GraphGlass and its tools into $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev,docs]' --editable './bench[all]'
	@touch $@

install: $(STAMP)

demo: $(STAMP)
	@echo "Fitting on MUTAG's normal molecules and ranking the held-out ones ..."
	@$(BIN)/glass demo --output demo-output

check: $(STAMP)
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --durations=15 \
		--cov --cov-report=term:skip-covered --cov-fail-under=90

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

build: $(STAMP)
	$(BIN)/python -m build

fuzz: $(STAMP)
	$(BIN)/python bench/scripts/fuzz.py

clean:
	rm -rf $(VENV) demo-output site dist
