# Two commands: `make book` and `make test`. Each sets itself up in .venv on its first run.
# Every path here is relative, so that a folder whose name has spaces works too.

PYTHON ?= python3
VENV ?= .venv
PY = "$(VENV)/bin/python"
STAMP = $(VENV)/.lielab-installed
MADE = $(VENV)/.lielab-made
WORKERS ?= 2

# This checkout's lielab comes first, also when the folder was moved after it was installed.
export PYTHONPATH := $(CURDIR)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup book pdf test lint unit exercises pages browser nbval outputs release grade bench atlas basin class address clean distclean

help:  ## this list
	@echo "make book       execute the chapters, build the pages, print the path to open"
	@echo "make pdf        the whole book as one PDF and a zip to read offline, beside the pages (needs Chromium and npm)"
	@echo "make test       everything below, in this order; stops at the first part that fails"
	@echo "  make lint       ruff: style and format; mypy: types of public signatures"
	@echo "  make unit       tests of the package, the exercises and the house"
	@echo "  make pages      the strict build of the book (the same as make book)"
	@echo "  make browser    the built pages in a headless browser (needs Chromium and npm)"
	@echo "  make nbval      every chapter compared with its stored outputs: as it was run for the pages, or run now"
	@echo "make exercises  only the tests of the exercises and of the grader"
	@echo "make outputs    write fresh outputs back into the chapters"
	@echo "make release    write student copies of the assignments into released/"
	@echo "make grade FOLDER=submissions    grade what students handed in, into grades/"
	@echo "make bench      timings against other libraries, installed into environments of their own; writes the page on performance"
	@echo "make atlas      measure every method and write the page Atlas of methods: some minutes; times only where nothing else runs"
	@echo "make basin      the basin study of the chapter on LQR, 100320 closed loops, ten to twenty minutes; can be resumed"
	@echo "make class      grade a class of 300, slow and hostile ones among them, killed twice on the way: ten minutes"
	@echo "make address URL=https://github.com/you/your-fork    set the public address everywhere; SITE=https://lie.example.org for a domain of your own"
	@echo "make clean      remove what was built; make distclean removes the caches and the .venv it made as well"
	@echo
	@echo "PYTHON=python3.12 chooses the interpreter of a new .venv; VENV=folder chooses the folder."

# --- setting up -----------------------------------------------------------------------------------

setup: $(STAMP)  ## create .venv and install the package with the tools of the book and the tests

$(STAMP): pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 10))" || { \
	  echo "lielab needs Python 3.10 or newer; '$(PYTHON)' is missing or older."; \
	  echo "Install one (Debian, Ubuntu: sudo apt install python3 python3-venv) or name it: make PYTHON=python3.12"; \
	  exit 1; }
	@$(PYTHON) -c "import venv, ensurepip" 2>/dev/null || { \
	  echo "'$(PYTHON)' has no venv module. Debian, Ubuntu: sudo apt install python3-venv"; exit 1; }
	@test -x $(PY) || { $(PYTHON) -m venv "$(VENV)" && touch "$(MADE)"; }
	@echo "installing the package and its tools into $(VENV) (about 2 minutes the first time)"
	@$(PY) -m pip install -qq -e ".[book,test]" || { \
	  echo "installing failed: the lines above say why (no network? then run make again later)."; exit 1; }
	@touch "$@"

# --- the two commands -----------------------------------------------------------------------------

book: $(STAMP)
	@$(PY) book/_tools/build.py

pdf: book  ## a PDF of the whole book
	@$(PY) book/_tools/pdf.py

test: lint unit pages browser nbval
	@echo "make test: lint, unit, pages, browser and nbval are through"
	@$(PY) tests/browser/served.py

# --- the parts ------------------------------------------------------------------------------------

lint: $(STAMP)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

# In the order of the files: by their number of tests the few long ones, graders of hostile notebooks, would come last.
unit: $(STAMP)
	@$(PY) book/_tools/stage.py --warm-only
	$(PY) -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder tests --ignore=tests/browser

exercises: $(STAMP)
	$(PY) -m pytest -q -n $(WORKERS) --dist loadfile tests/grading

pages: book

browser: pages  ## says what is missing where it cannot run
	$(PY) -m pytest -q -n $(WORKERS) --dist worksteal tests/browser

nbval: $(STAMP)
	$(PY) -m pytest -q -n $(WORKERS) --dist loadfile -p tests.kept_runs --nbval --nbval-current-env \
	  --nbval-sanitize-with tests/sanitize.cfg book

# --- the rest -------------------------------------------------------------------------------------

outputs: $(STAMP)
	@$(PY) book/_tools/outputs.py

release: $(STAMP)
	@$(PY) -m lielab.grading release

grade:
	@test -n "$(FOLDER)" || { echo "usage: make grade FOLDER=submissions    (a folder of .ipynb files, in any subfolders)"; exit 2; }
	@"$(MAKE)" -s setup
	@$(PY) -m lielab.grading grade "$(FOLDER)" || test $$? -eq 3  # 3: graded, and something is doubtful, as printed

bench: $(STAMP)
	@$(PY) -m pip install -qq -e ".[bench]"
	@$(PY) -m benchmarks.performance
	@$(PY) book/_tools/performance.py

atlas: $(STAMP)
	@$(PY) -m benchmarks.atlas
	@$(PY) book/_tools/atlas.py

basin: $(STAMP)
	@$(PY) -m benchmarks.basin

class: $(STAMP)
	@$(PY) -m benchmarks.class_of_300

address: $(STAMP)
	@test -n "$(URL)" || echo "usage: make address URL=https://github.com/you/your-fork"
	@$(PY) book/_tools/address.py $(URL) $(if $(SITE),--site $(SITE))

clean:
	rm -rf _build build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .jupyter_cache
	rm -rf *.egg-info
	find . -name __pycache__ -not -path "./$(VENV)/*" -prune -exec rm -rf {} +

# Only a venv that was made here: VENV may name a reader's own.
distclean: clean
	rm -rf .cache
	@if test -f "$(MADE)" && test -f "$(VENV)/pyvenv.cfg"; then echo rm -rf "$(VENV)"; rm -rf "$(VENV)"; \
	  elif test -e "$(VENV)"; then echo "$(VENV) was not made here and is left alone"; fi
