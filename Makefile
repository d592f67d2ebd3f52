# SPDX-License-Identifier: Apache-2.0
# Two commands from a clean clone: `make demo` and `make test`. Each makes its own environment in
# .venv from the pinned packages, compiles the kernel, and then works; Python 3.11 or later and a C
# compiler are all that must be there. `make help` lists the rest.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PYTEST_ARGS ?=
ARGS ?=
SERVERS ?= auto
FRESH ?=
VENV := .venv
NO_TESTS := 5
VERIFIED := docs/campaigns/verify.jsonl
# A stack that is printed while greenlets switch can end the process; long tests would meet that.
UNWATCHED := -o faulthandler_timeout=0
LEDGERS := --ledger=.cache/verify.jsonl $(if $(FRESH),,--kept=$(VERIFIED))
BIN := $(VENV)/bin
NATIVE := $(wildcard src/lochan/kernel/native/*.pyx src/lochan/kernel/native/*.pxd src/lochan/kernel/native/*.h)
PROTO := src/lochan/model/records.proto src/lochan/model/access.proto src/lochan/model/tasks.proto

.DEFAULT_GOAL := help
.PHONY: help demo serve test check bench verify verify-ci verified servers fmt lock proto clean

help:
	@echo 'demo     the main job end to end: server, data in, branch, merge, Spark, a pipeline'
	@echo 'serve    a server with a sample repository, in the foreground; ARGS passes options on'
	@echo 'test     every test but the campaigns; PYTEST_ARGS passes options on'
	@echo 'check    style, types, import contracts, architecture'
	@echo 'verify   the campaigns: crashes, corruption, fuzzing, large trees (hours); goes on where it was stopped'
	@echo 'verify-ci  the campaigns of every change: simulations of the protocol (some 20 minutes)'
	@echo '         both leave out what passed before on the same sources; FRESH=1 begins anew'
	@echo 'verified  write what verify has passed on these sources into docs/campaigns, for other machines to go on from'
	@echo 'bench    the figures, each beside its yardstick'
	@echo 'servers  get what some tests speak to: sst_dump, PostgreSQL, FUSE (by apt-get, as root), Azurite (by npm)'
	@echo 'fmt      format the sources'
	@echo 'lock     pin the newest packages in requirements.lock'
	@echo 'proto    write *_pb2.py from the .proto files'
	@echo 'clean    remove everything that these targets made'

$(VENV)/packages: requirements.lock
	@test -n '$(PYTHON)' || { echo 'no Python 3.11 or later found; name one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@echo 'setting up $(VENV): pinned packages, then the kernel; a minute or two, once'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(VENV)/kernel: $(VENV)/packages pyproject.toml setup.py $(NATIVE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(VENV)/kernel
	$(BIN)/python examples/demo.py

serve: $(VENV)/kernel
	$(BIN)/python -m lochan quickstart $(ARGS)

# Two processes share the tests. Those of Spark come after, file by file: each process has a session and
# its JVM. PYTEST_ARGS may choose tests that only one line has.
test: $(VENV)/kernel
	@sh .ci/servers '$(SERVERS)' test
	$(BIN)/python -m pytest -n 2 --ignore=tests/spark $(PYTEST_ARGS) || test $$? -eq $(NO_TESTS)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder tests/spark $(PYTEST_ARGS) || test $$? -eq $(NO_TESTS)

check: $(VENV)/kernel
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --quiet tests/test_architecture.py

bench: $(VENV)/kernel
	$(BIN)/python bench/run.py

# Two processes share what minds no neighbour; what measures memory, fills disks or kills servers has the
# machine for itself after that, whatever came of the former. An interrupt (2) ends both.
verify: $(VENV)/kernel
	@sh .ci/servers '$(SERVERS)' verify
	$(if $(FRESH),rm -f .cache/verify.jsonl)
	$(BIN)/python -m pytest $(UNWATCHED) -n 2 --dist worksteal $(LEDGERS) \
		-m 'campaign and beside_others' $(PYTEST_ARGS); \
	shared=$$?; test $$shared -ne 2 || exit 2; \
	$(BIN)/python -m pytest $(UNWATCHED) $(LEDGERS) -m 'campaign and not beside_others' $(PYTEST_ARGS); \
	alone=$$?; test $$shared -eq 0 || test $$shared -eq $(NO_TESTS) || exit $$shared; \
	test $$alone -eq 0 || { test $$alone -eq $(NO_TESTS) && test $$shared -eq 0; }

verify-ci: $(VENV)/kernel
	$(if $(FRESH),rm -f .cache/verify-ci.jsonl)
	$(BIN)/python -m pytest $(UNWATCHED) -n 2 --dist worksteal --ledger=.cache/verify-ci.jsonl \
		-m ci_campaign $(PYTEST_ARGS)

verified: $(VENV)/kernel
	PYTHONPATH=tests $(BIN)/python -m support.ledger .cache/verify.jsonl $(VERIFIED)

servers:
	@sh .ci/servers auto verify

fmt: $(VENV)/packages
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

# Universal: one file for every Python and platform that pyproject.toml allows.
lock:
	$(PYTHON) -m venv .cache/lock
	.cache/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	.cache/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
		--generate-hashes --no-header --extra dev --extra postgres --extra cloud --extra arrow --extra spark \
		--extra connect --output-file requirements.lock pyproject.toml

proto:
	$(PYTHON) -m venv .cache/proto
	$(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['proto'], sep='\n')" > .cache/proto/requirements.txt
	.cache/proto/bin/python -m pip install --quiet --disable-pip-version-check -r .cache/proto/requirements.txt
	PATH="$(CURDIR)/.cache/proto/bin:$$PATH" python -m grpc_tools.protoc -I src --python_out=src --mypy_out=quiet:src $(PROTO)

clean:
	rm -rf $(VENV) .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist lake
	rm -rf src/lochan.egg-info src/lochan/kernel/native/*.c src/lochan/kernel/native/*.so
	find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +
