# Python >= 3.11 (on Debian with python3-venv) and make are all this needs: uv is brought along when it is not on PATH.
# `test` and `bench` also need a Chromium.
PYTHON ?= python3
UV_VERSION := 0.13.9
UV := $(or $(shell command -v uv),.uv/bin/uv)
BIN := .venv/bin
PURE := not (broker or browser or jvm or process or reliability or spark or spark_cluster or long)

export UV_PROJECT_ENVIRONMENT := .venv
export UV_PYTHON_DOWNLOADS := never
unexport PYTHONDONTWRITEBYTECODE  # each process that a test starts would compile all that it imports

.PHONY: setup setup-dev run check pure test test-long test-cluster reliability fuzz lint bench clean

setup: $(UV)  ## what the product needs, from the lock file
	@$(UV) sync --quiet --locked --inexact --no-dev --extra demo --extra pipeline --python $(PYTHON)

setup-dev: $(UV)  ## what its tests and benchmarks need as well; the extra kerberos is compiled and needs headers
	@$(UV) sync --quiet --locked --inexact --all-extras --no-extra kerberos --all-groups --python $(PYTHON)

.uv/bin/uv:
	@echo "uv is not on PATH: installing $(UV_VERSION) into .uv" >&2
	@$(PYTHON) -m venv .uv
	@.uv/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

run: setup  ## a real Kafka with a demo workload, and the dashboard on it
	@$(BIN)/groupscope up

check: setup-dev  ## lint, types, and every test that needs no JVM, broker, Spark, browser or new process
	@$(MAKE) --no-print-directory --jobs 2 lint pure

pure: setup-dev
	@$(BIN)/pytest -n 2 --dist loadfile -q -m "$(PURE)" --hypothesis-profile=few $(PYTEST_ARGS)

test: setup-dev  ## everything: a real broker, a real Chromium, Java's own classes
	@$(BIN)/pytest -n 2 --dist loadfile --max-worker-restart 1 $(PYTEST_ARGS)

test-long: setup-dev  ## the tests that take long and are not among the others
	@$(BIN)/pytest -m long -o faulthandler_timeout=7300 $(PYTEST_ARGS)

test-cluster: setup-dev  ## the pipeline under spark-submit, on a standalone master with two workers
	@$(BIN)/pytest -m spark_cluster tests/cluster_spark $(PYTEST_ARGS)

reliability: setup-dev  ## faults under a running dashboard; writes docs/reliability.md
	@$(BIN)/pytest -m reliability -o faulthandler_timeout=7300 tests/reliability $(PYTEST_ARGS)

fuzz: setup-dev  ## our plans and Java's on random groups: FUZZ_SECONDS=n in all, FUZZ_SEED=n to see the same again
	@$(BIN)/python -m tests.oracle.fuzz $(FUZZ_SECONDS:%=--seconds %) $(FUZZ_SEED:%=--seed %)

lint: setup-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: setup-dev  ## our figures and the peers', from one run on this machine
	@$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .uv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
