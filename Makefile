# The commands of this project. `make run` and `make test` need Python 3.11 or newer and make, nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REQUIREMENTS := $(wildcard requirements*.txt)
TOOLS := var/tools
AZURITE_VERSION := 3.35.0
CHECKED := larkfield ingestion assistant simulator loadtests
# The type checker's Django plugin reads the settings; addresses keep it from starting servers for that.
NO_SERVERS := DATABASE_URL=postgresql://nobody@localhost/none VALKEY_URL=redis://localhost:1
# What a production machine would say, so that `check --deploy` judges the settings that would run there.
AS_PRODUCTION := LARKFIELD_ENV=production ALLOWED_HOSTS=larkfield.example SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))')

# pip installs one set of packages at a time: a parallel make would only mix the headings.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help venv run test lint types imports migrations deploy pytest check browser azurite clean evidence evidence-smoke fresh bench

define heading
	@printf '\n== %s\n' '$(1)'
endef

help:
	@echo 'make run     start everything and serve on port 8000 (PORT=8001 make run for another)'
	@echo 'make test    style, types, import rules, migrations, settings, all tests'
	@echo 'make check   the same without the tests'
	@echo 'make lint    style alone'
	@echo 'make evidence        record all load tests and failure paths that are not recorded for this code, write the reports'
	@echo 'make evidence-smoke  every kind of recorded run once, small'
	@echo 'make fresh           the project from nothing in a new folder, by hand, and every test'
	@echo 'make bench           the product beside its peers and the bare database, about an hour; docs/benchmarks.md'
	@echo 'make clean   remove the environment and caches; var/ with the data stays'

# --- the environment ---

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or newer is needed; '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Name another: PYTHON=python3.12 make run"; exit 1; }
	@echo 'Making the virtual environment in $(VENV)'
	@$(PYTHON) -m venv $(VENV) || { echo "The module venv does not work (on Debian: apt-get install python3-venv)"; rm -rf $(VENV); exit 1; }

$(VENV)/installed: $(REQUIREMENTS) | $(BIN)/python
	@echo 'Installing the packages of $(REQUIREMENTS): about a minute the first time'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input $(addprefix -r ,$(REQUIREMENTS))
	@touch $@

venv: $(VENV)/installed

# exec: the supervisor takes the shell's place, so that signals to make's child reach it.
run: venv
	@exec $(BIN)/python -m larkfield.launch

# --- checks ---

test: check browser azurite pytest evidence-smoke
	@printf '\nEvery check has passed.\n'

check: lint types imports migrations deploy

lint: venv
	$(call heading,Style)
	@$(BIN)/ruff check $(CHECKED) manage.py
	@$(BIN)/ruff format --check $(CHECKED) manage.py

types: venv
	$(call heading,Types)
	@$(NO_SERVERS) $(BIN)/mypy $(CHECKED)

imports: venv
	$(call heading,Import rules)
	@$(BIN)/lint-imports

migrations: venv
	$(call heading,Migrations)
	@LARKFIELD_DATA_DIR=var/test $(BIN)/python manage.py makemigrations --check --dry-run

deploy: venv
	$(call heading,Settings of a production machine)
	@$(AS_PRODUCTION) $(NO_SERVERS) $(BIN)/python manage.py check --deploy --fail-level WARNING

pytest: venv
	$(call heading,Tests)
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

# --- the evidence: load tests, failure paths, reports ---

# Resumable: what is recorded for the present code is skipped. `python -m loadtests.evidence --list` shows the durations.
evidence: venv
	@exec $(BIN)/python -m loadtests.evidence

# Every kind of run once, small; its numbers are kept nowhere.
evidence-smoke: venv
	$(call heading,Evidence in short)
	@$(BIN)/python -m loadtests.smoke

# The project from nothing in a new folder, by hand, with every test.
fresh: venv
	@exec $(BIN)/python -m loadtests.fresh

# --- what the tests need beside Python ---

# The browser tests drive the system's Chromium. They are part of the checks: without it the checks fail, aloud.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo 'Installing Chromium for the browser tests'; \
	    apt-get update -qq </dev/null >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium </dev/null >/dev/null; \
	  fi; \
	  command -v chromium >/dev/null || { \
	    echo 'The browser tests need Chromium and it is not there. Install it: sudo apt-get install chromium'; exit 1; }; }

# Azurite plays Azure's blob storage for one test, which looks for it in $(TOOLS); it needs Node.
azurite:
	@if [ -x $(TOOLS)/node_modules/.bin/azurite-blob ]; then :; \
	elif command -v npm >/dev/null; then \
	  echo 'Installing Azurite $(AZURITE_VERSION) in $(TOOLS)'; \
	  mkdir -p $(TOOLS) && npm install --silent --no-audit --no-fund --no-save --prefix $(TOOLS) azurite@$(AZURITE_VERSION) </dev/null >/dev/null; \
	else echo 'Azurite needs Node (npm), which is not there. Install it: sudo apt-get install npm'; exit 1; fi

# --- beside the peers ---

# BENCH_ARGS: what is measured and how often, such as `work pickup`, or --short.
bench: venv
	@exec $(BIN)/python -m loadtests.bench $(BENCH_ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find $(CHECKED) -name __pycache__ -type d -prune -exec rm -rf {} +
