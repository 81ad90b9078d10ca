# The whole developer interface. Everything lives in .venv; a stamp there says that the requirements are installed.
#   make run        start the dashboard and print its address        (PORT=8502 for another port)
#   make serve      several processes behind nginx, for a room or a company: docs/serve.md  (PORT=8080 HOST=name PROCESSES=2)
#   make shelf      what a shelf in PostgreSQL or another database needs beside that: docs/serve.md
#   make test       lint, types, tests, in three minutes on two cores; make types and make tests run each alone
#   make long       the tests that take longer: servers that are killed, refreshes that are cut off
#   make accuracy   memory and time against every case of validation/, written to validation/results/
#   make bench      what estimate, search, command line, a screen and a room of visitors cost, and ten times the tests' generated input
#   make validate   every launch kit as far as a machine without a GPU starts it, told in validation/results/launch.csv (no GPU; 6 GB with the CUDA libraries of torch)
#   make queues     simulate caches and days of services with simpy and ciw, written to validation/results/
#   make league     other estimators of memory on the same peaks, written to validation/results/league.csv
#   make measure    take those cases on this machine's CUDA GPU
#   make hub        what it takes to read a model from the Hugging Face hub by its name
#   make agent      what `python -m calc serve-mcp` needs to serve its tools to an agent: docs/agent.md
#   make cluster    a Dask cluster on this machine for `python -m calc estimate --cluster`: docs/scale.md  (WORKERS=2 MEMORY=2GiB CLUSTER_PORT=8786)
#   make schedule   what `python -m calc schedule` needs to prove its plan
#   make simulate   what `python -m calc simulate` takes: the CPU build of PyTorch and transformers, about 250 MB to download
#   make lock       pin all that the requirements bring, with hashes, into requirements/lock/
#   make schemas    write the JSON Schemas that editors use from the classes of the catalogs
#   make prices     fetch today's AWS prices into catalogs/  (REGIONS="us-east-1 eu-west-1" or all, ARGS=--dry-run; docs/prices.md)

PYTHON ?= python3
PORT ?= 8501
WORKERS ?= 2
MEMORY ?= 2GiB
CLUSTER_PORT ?= 8786
BIN = .venv/bin
# The bytecode that pytest keeps saves a later run the rewriting of every assertion, and each command
# that a test starts the compiling of all modules.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses 2 \
  --dist loadfile --no-loadscope-reorder
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS)

.PHONY: run serve shelf test types tests long accuracy bench validate queues measure prices hub agent schedule cluster simulate schemas lock

run: .venv/ready-run
	@$(BIN)/python -c 'import socket; socket.create_server(("localhost", $(PORT)))' 2>/dev/null || \
	  { echo "Port $(PORT) is taken; choose another: make run PORT=$$(($(PORT) + 1))."; exit 1; }
	@echo "Headroom: http://localhost:$(PORT)"
	@MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=16777216 $(BIN)/python -m streamlit run dashboard.py --server.port $(PORT)

serve: .venv/ready-run
	@bash .serve/serve.sh

shelf: .venv/ready-shelf

test: .venv/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --quiet --check .
	@$(MAKE) --no-print-directory --jobs 2 types tests

types: .venv/ready-dev
	$(BIN)/mypy

tests: .venv/ready-dev
	$(PYTEST) -m "not long and not bench"

# A third process works while others wait for a browser or a server.
long: .venv/ready-dev
	$(PYTEST) --numprocesses 3 -m "long and not bench"

accuracy: .venv/ready-run
	$(BIN)/python -m validation.compare
	$(BIN)/python -m validation.probability
	$(BIN)/python -m validation.speed
	$(BIN)/python -m validation.fresh
	$(BIN)/python -m validation.sources_out
	$(BIN)/python -m validation.arrivals
	$(BIN)/python -m validation.calibration

bench: .venv/ready-dev
	$(BIN)/python -m benchmarks.estimate
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.command_line
	$(BIN)/python -m benchmarks.wall
	$(BIN)/python -m benchmarks.sliders
	$(BIN)/python -m benchmarks.room
	$(BIN)/python -m benchmarks.room --large 3
	$(BIN)/python -m benchmarks.room --texts 3
	$(BIN)/python -m benchmarks.room --churn 500
	$(BIN)/python -m benchmarks.room --minutes 30
	HEADROOM_TIMES=10 $(PYTEST) -m hypothesis
	HEADROOM_TIMES=100 $(PYTEST) -m long tests/engine/test_physics.py
	HEADROOM_TIMES=84 $(PYTEST) -m long tests/search/test_answer_laws.py
	HEADROOM_TIMES=2 $(PYTEST)

validate: .venv/ready-run .venv-tools/ready
	rm -rf .venv-tools/kits
	$(BIN)/python -m validation.launch_files .venv-tools/kits
	.venv-tools/bin/python validation/launch_parsers.py .venv-tools/kits validation/results/launch.csv

queues: .venv/ready-queues
	$(BIN)/python -m validation.queues.sessions
	$(BIN)/python -m validation.queues.day

league: .venv-league/ready
	.venv-league/bin/python -m validation.league

measure: .venv/ready-measure
	$(BIN)/python -m validation.measure --out validation/data/measured.csv

prices: .venv/ready-prices
	$(BIN)/python -m refresh $(REGIONS:%=--region %) $(ARGS)

hub: .venv/ready-hub

agent: .venv/ready-agent

simulate: .venv-simulate/ready

.venv-simulate/ready: requirements/lock/simulate.txt requirements/lock/simulate-torch.txt | .venv/bin/python
	@echo "Installing $<: PyTorch for the CPU and transformers, about 250 MB to download, 1.3 GB on disk"
	@$(BIN)/python -m venv .venv-simulate
	@.venv-simulate/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $<
	@.venv-simulate/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --index-url https://download.pytorch.org/whl/cpu -r requirements/lock/simulate-torch.txt
	@touch $@

schedule: .venv/ready-schedule

cluster: .venv/ready-cluster
	@echo "Dask: $(WORKERS) workers of $(MEMORY), a core each: --cluster tcp://127.0.0.1:$(CLUSTER_PORT)"
	@export DASK_LOGGING__DISTRIBUTED=warning MALLOC_TRIM_THRESHOLD_=268435456 MALLOC_MMAP_THRESHOLD_=33554432; \
	  $(BIN)/python -m dask scheduler --host 127.0.0.1 --port $(CLUSTER_PORT) --no-dashboard & trap "kill $$!" EXIT INT TERM; \
	  $(BIN)/python -m dask worker tcp://127.0.0.1:$(CLUSTER_PORT) --nworkers $(WORKERS) --nthreads 1 --memory-limit $(MEMORY) --no-dashboard

LOCK = $(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 --no-annotate --no-header --quiet

.venv-league/ready: requirements/lock/run.txt requirements/lock/hub.txt requirements/lock/league.txt | .venv/bin/python
	@echo "Installing $<"
	@$(BIN)/python -m venv .venv-league
	@.venv-league/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@.venv-league/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/lock/hub.txt
	@.venv-league/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/lock/league.txt
	@touch $@

.venv-tools/ready: requirements/lock/launch.txt requirements/lock/validation.txt | .venv/bin/python
	@echo "Installing $<"
	@$(BIN)/python -m venv .venv-tools
	@.venv-tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/lock/validation.txt
	@.venv-tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $<
	@touch $@

schemas: .venv/ready-run
	@$(BIN)/python -m calc.catalogs.schemas

lock: .venv/ready-dev
	@$(LOCK) --upgrade requirements/dev.txt --output-file requirements/lock/dev.txt
	@$(LOCK) --constraint requirements/lock/dev.txt requirements.txt --output-file requirements/lock/run.txt
	@for name in agent cluster hub measure prices queues schedule shelf validation; do \
	  $(LOCK) --constraint requirements/lock/dev.txt requirements/$$name.txt --output-file requirements/lock/$$name.txt || exit 1; \
	done
	@$(LOCK) --no-deps requirements/league.txt --output-file requirements/lock/league.txt
	@$(LOCK) --no-deps requirements/launch.txt --output-file requirements/lock/launch.txt
	@$(LOCK) --no-deps requirements/simulate.txt --output-file requirements/lock/simulate.txt

.venv/ready-%: requirements/lock/%.txt | .venv/bin/python
	@echo "Installing $<"
	@$(PIP) --require-hashes -r $<
	@touch $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Headroom needs Python 3.11 or newer: set it with make PYTHON=python3.12 (found: $$($(PYTHON) --version 2>&1))."; exit 1; }
	@test ! -e .venv || { echo ".venv is there, but its Python cannot be run; move it away and run make again."; exit 1; }
	@$(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo "Python cannot make a virtual environment here: on Debian and Ubuntu install python3-venv."; exit 1; }
