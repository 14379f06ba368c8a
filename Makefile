# `make help` lists what can be made. Everything it needs beyond Python 3.11+ it fetches itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help up test lint bench interop chaos docs tables lock clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

up: $(VENV)/run ## start the embedded cluster (ARGS="--detach --port 6443" ...)
	@$(BIN)/hardpoint up $(ARGS)

test: $(VENV)/dev debian lint ## lint, then every test that needs no other toolchain
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

lint: $(VENV)/dev ## ruff, mypy --strict and the layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

interop: $(VENV)/interop debian ## the real kubectl, clients and components against ours (needs Go)
	tools/interop.sh
	$(BIN)/python -m pytest tests/interop --interop $(ARGS)

bench: $(VENV)/interop debian ## measure against kube-apiserver and etcd in the same run
	$(BIN)/python -m benchmarks $(ARGS)

chaos: $(VENV)/dev debian ## kill, fill and fuzz, and check that nothing acknowledged was lost
	$(BIN)/python -m pytest tests/chaos tests/hostile --chaos $(ARGS)

docs: $(VENV)/docs ## build docs/ into site/
	$(BIN)/zensical build --strict

tables: $(VENV)/dev ## derive src/hardpoint/machinery/data from a recorded v1.37 (REFERENCE=folder)
	$(BIN)/python tools/make_tables.py $(REFERENCE)

lock: ## pin the newest dependencies again (needs uv)
	tools/lock.sh

clean: ## forget what was built
	rm -rf $(VENV) site dist

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/%: requirements/%.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(BIN)/python -m compileall -q src
	@touch $@

# The real counterparts our tests talk to, where we may install them; elsewhere their tests skip and say so.
.PHONY: debian
debian:
	@tools/debian.sh
