# Two commands from a fresh clone: `make demo` and `make test`. Both can be repeated; both install what they need first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test check install clean

help:
	@echo "make demo   install into $(VENV), fit on bundled molecules, rank held-out ones, write demo-output/report.html"
	@echo "make test   install into $(VENV), then style, types, import rules and tests"
	@echo "make check  style, types and import rules only"
	@echo "make clean  remove $(VENV) and demo-output"

$(STAMP): pyproject.toml constraints.txt
	@echo "Installing GraphGlass and its tools into $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev]'
	@touch $@

install: $(STAMP)

demo: $(STAMP)
	@echo "Fitting on MUTAG's normal molecules and ranking the held-out ones ..."
	@$(BIN)/glass demo --output demo-output

check: $(STAMP)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=2 $(BIN)/python -m pytest -n 2 --dist loadfile

clean:
	rm -rf $(VENV) demo-output
