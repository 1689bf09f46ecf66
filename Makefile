# kgraft: `make help` lists what there is. Every target sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test quick docs coverage lint bench world linker reasoner static words picture report clean

help: ## Show this list
	@grep -hE '^[a-zA-Z_%-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.kgraft ## Link three sentences to the built-in graph and show what it knows
	@$(BIN)/python -m tools.demo

test: lint docs ## Lint, types, import contract, the documentation, and all tests
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile $(COVERAGE)

quick: $(VENV)/.kgraft-dev ## Ruff and the library's fast tests, for the inner loop
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests -n auto \
	  --dist loadfile -m "not slow" --hypothesis-profile=quick --ignore=tests/benchmarks --ignore=tests/tools

coverage: ## The same, with the share of lines that the tests run
	@$(MAKE) test COVERAGE="--cov=kgraft --cov-report=term:skip-covered"

docs: $(VENV)/.kgraft-dev ## Build the documentation as a site in build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

lint: $(VENV)/.kgraft-dev ## Ruff, mypy and the import contract
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: | $(VENV)/bin/python ## List the benchmarks: what they measure and need, and their last results
	@$(BIN)/python -m benchmarks

bench-%: $(VENV)/.kgraft-bench ## Run one benchmark: make bench-graph.scale
	@$(BIN)/python -m benchmarks $*

picture: $(VENV)/.kgraft-dev ## Draw the pictures of the README again
	@$(BIN)/python -m tools.demo --svg docs/demo.svg
	@rm -rf build/world.complex build/world.complex.training
	@$(BIN)/kgraft embed train world --out build/world.complex --quiet
	@$(BIN)/kgraft embed plot world build/world.complex --out docs/world-map.png

report: $(VENV)/.kgraft-dev ## Write the tables and pictures of README and docs from benchmarks/results
	@$(BIN)/python -m benchmarks.report

world: $(VENV)/.kgraft-dev ## Build the built-in graph again from its sources
	@rm -rf build/world
	@$(BIN)/python -m tools.build_world build/world
	@$(BIN)/kgraft graph import build/world --out src/kgraft/data/world --overwrite --name world \
	  --licence "CC BY 4.0 (GeoNames), MIT (countryinfo), Unicode-3.0 (CLDR): see NOTICE"

linker: $(VENV)/.kgraft-dev ## Train the linker that ships with kgraft (needs the data folder; resumes)
	@$(BIN)/python -m tools.train_linker build/linker
	@$(BIN)/python -m tools.ship_linker build/linker

reasoner: $(VENV)/.kgraft-dev ## Train the reasoner that ships with kgraft (needs the data folder; resumes)
	@$(BIN)/python -m tools.train_reasoner build/reasoner

words: $(VENV)/.kgraft-dev ## Build the table of ordinary words (needs the data folder)
	@$(PIP) wordfreq
	@$(BIN)/python -m tools.build_words

static: $(VENV)/.kgraft-dev ## Distil the static encoder that ships with kgraft (needs the data folder; resumes)
	@$(BIN)/python -m tools.distil_static src/kgraft/data/static

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.kgraft: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing kgraft (some minutes the first time)"
	@$(PIP) -e .
	@touch $@

$(VENV)/.kgraft-dev: $(VENV)/.kgraft
	@echo "Installing what the tests need"
	@$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.kgraft-bench: $(VENV)/.kgraft-dev
	@echo "Installing what the benchmarks need"
	@$(PIP) -e '.[dev,bench]'
	@touch $@
