# Everything a developer or a CI machine runs. Needs Python 3.11+ with pip, make and bash.
# `make` alone lists the targets.

PYTHON ?= python3
GAME ?= chouine
ARGS ?=

SHELL := bash
.SHELLFLAGS := -euo pipefail -c

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXTRAS := dev,pettingzoo,train,render,docs,openspiel
DOORS := torchrl,tianshou,rllib
TYPED := build/typed
SCRIPTS := $(wildcard benchmarks/*.py docs/*.py examples/*.py)

.DEFAULT_GOAL := help
.PHONY: help venv train test lint types tests check-long mutants bench docs docs-links docs-pages wheel clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

venv: $(STAMP) ## make .venv with the pinned versions and the project in it, editable

# pip is put there by the pip of $(PYTHON), so that no ensurepip is needed (some systems leave it out).
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PYTHON) -m pip --python $(BIN)/python install -q -c constraints.txt pip setuptools
	$(BIN)/python -m pip install -q --no-build-isolation -c constraints.txt -e '.[$(EXTRAS)]'
	@touch $@

train: venv ## train an agent for GAME (default chouine), write it under runs/; more flags in ARGS
	$(BIN)/python -m cardgym.baselines.ppo_sb3 --game $(GAME) $(ARGS)

test: lint types tests ## all that must pass before a commit: format, lint, types, tests

lint: venv
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# The packages mapped from top-level folders (wrappers, baselines, configs) are visible to a type checker only
# in a plain install, so one is made aside; `sed` turns its paths back into those of the sources.
types: venv
	@rm -rf build
	@$(BIN)/python -m pip install -q --no-deps --no-build-isolation --target $(TYPED) .
	cd $(TYPED) && ../../$(BIN)/mypy --config-file ../../pyproject.toml --cache-dir ../../.mypy_cache cardgym \
		$(addprefix ../../,$(SCRIPTS)) \
		| sed -E 's#^cardgym/(wrappers|baselines|configs)/#\1/#; s#^(../../)+##'

tests: venv
	$(BIN)/pytest -m "not long" -n auto $(ARGS)

# The heavy libraries, for the long tests alone.
$(VENV)/.doors: $(STAMP)
	$(BIN)/python -m pip install -q --no-build-isolation -c constraints.txt -e '.[$(EXTRAS),$(DOORS)]'
	@touch $@

check-long: venv $(VENV)/.doors ## every test, the slow ones too, those of other libraries among them
	$(BIN)/pytest -m "long or not long" $(ARGS)

mutants: venv ## count which mistakes in the rules of GAME its tests notice; more flags in ARGS
	$(BIN)/python tests/mutants.py $(GAME) $(ARGS)

bench: venv ## measure speed, write the table into docs/benchmarks.md
	$(BIN)/python benchmarks/speed.py --out runs/bench --docs docs/benchmarks.md $(ARGS)

SITE := $(BIN)/sphinx-build -W --keep-going -q -c docs . build

docs: venv ## build the documentation site into build/site; warnings and broken links inside it are errors
	$(SITE)/site

docs-links: venv ## check the links that lead out of the documentation (needs the internet)
	$(SITE)/links -b linkcheck

docs-pages: venv ## write the tables of docs/envs anew from the code
	$(BIN)/python docs/generate.py

wheel: venv ## build the wheel into dist/
	@rm -rf build
	$(BIN)/python -m pip wheel -q --no-deps --no-build-isolation -w dist .

clean: ## remove what was built; .venv and runs/ stay
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .cardgym-cache *.egg-info
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
