# Every target sets up what it needs in .venv/ and says so; the second time it is quick.
PYTHON ?= python3
BIN := .venv/bin

# Tests wait a fifth of their time for processes that they start: half as many again as cores.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() * 3 + 1) // 2)')
SEED ?= 1
GROUPS ?= 20000
SCORED := --assignor written --assignor shipped
KAFKAS := kafka-java kafka-broker
BROKERS := 4.3.1 4.4.0 3.9.2
APART := --benchmark corpus/known.jsonl --benchmark out/seeded.jsonl

.PHONY: conformance clients spark help jar report report-all test test-all test-broker brokers check lint agree bench promises differential findings why since-when on-a-cluster verdicts elastic how-often streams-tasks pages notebooks docs picture lock packages clean
.DEFAULT_GOAL := help
# Hundreds of processes load the same files: each is compiled once, whatever the environment says.
export PYTHONDONTWRITEBYTECODE =
# uv trusts whom this machine trusts, and asks the index that pip was told of.
export UV_SYSTEM_CERTS = 1
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
INSTALL := $(BIN)/uv pip install -q --python $(BIN)/python
RESOLVE := $(BIN)/uv pip compile -q --universal --python-version 3.11 --no-header --no-annotate \
  --no-emit-index-url --no-emit-find-links --generate-hashes

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

report: .venv/.ready-report out/seeded.jsonl  ## judge the captured groups, score Kafka's assignors; leaves out/report.html
	@echo "Looking for Kafka's classes, and fetching them if they are not here ..." >&2
	@$(BIN)/assay fetch $(KAFKAS) > /dev/null || test $$? -eq 2
	@echo "Scoring assignors ..." >&2
	@$(BIN)/assay report corpus/captures $(APART) --assignor written $(KAFKAS:%=--assignor %) --time-limit 1 -o out/report.html

report-all: clients out/seeded.jsonl  ## the same with every client, by way of Spark's tables in out/
	@echo "Judging the captured groups, then all clients on the benchmark ..." >&2
	@$(BIN)/assay run corpus/captures --out out $(SCORED)
	@$(BIN)/assay run corpus/known.jsonl --out out $(SCORED) > /dev/null
	@$(BIN)/assay run out/seeded.jsonl --out out $(SCORED) --time-limit 1 > /dev/null
	@$(BIN)/assay report out $(APART) -o out/report.html

out/seeded.jsonl: | .venv/.ready-report
	@mkdir -p out
	@$(BIN)/assay generate grid --members 10 --members 100 > $@.part
	@$(BIN)/assay generate differing --members 10 --members 100 >> $@.part
	@mv $@.part $@

test: clients .venv/.ready-check  ## run the test suite on all cores
	@$(BIN)/python -m pytest -n $(WORKERS) --no-loadscope-reorder

test-all: spark .venv/.ready-check  ## and those that take long: Spark, clients, clusters, kills, exhaustive searches
	@$(BIN)/python -m pytest -n $(WORKERS) --no-loadscope-reorder -m "not broker"

test-broker: brokers  ## the tests on a real Kafka broker, which is fetched the first time
	@$(BIN)/python -m pytest -n $(WORKERS) --no-loadscope-reorder -m broker tests/broker tests/live

brokers: .venv/.ready  ## fetch the jars of the Kafka brokers of the tests
	@echo "Looking for the jars of a Kafka broker, and fetching those that are not here ..." >&2
	@for version in $(BROKERS); do $(BIN)/python -m broker --fetch $$version || exit; done
	@$(BIN)/python -m broker --fetch-streams
	@$(BIN)/python -m broker --keep-classes

check: lint notebooks docs  ## ruff, mypy --strict, the notebooks and the site

lint: .venv/.ready-check  ## ruff and mypy --strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check -q .
	@$(BIN)/mypy

agree: .venv/.ready  ## hold the four formulations against each other: SEED=1 GROUPS=20000
	@$(BIN)/python -m tests.optimal.agreement --seed $(SEED) --groups $(GROUPS)

bench: clients  ## time the exact solver, alone and beside Kafka's and franz-go's
	@for table in exact fleet uniform cooperative balancers; do $(BIN)/python -m benchmarks $$table || exit; done

jar:  ## build and test the assignors for Kafka's broker and Java clients; leaves out/assay-assignor-VERSION.jar
	@command -v mvn > /dev/null || { echo "make jar needs Maven and a JDK 17 or later: apt-get install maven" >&2; exit 1; }
	@out=$$(mvn -q -B -ntp -Dstyle.color=never -f java/pom.xml package 2>&1) || { echo "$$out"; exit 1; }
	@mkdir -p out
	@cp java/target/assay-assignor-*.jar out/
	@ls out/assay-assignor-*.jar

promises: .venv/.ready  ## hold every assignor to every promise on all small groups, 7 min
	@$(BIN)/python -m studies promises

differential: clients  ## hold the KIPs against the code that people run, some 20 min
	@$(BIN)/python -m studies differential

findings: clients  ## look for what breaks shipped assignors' promises, an hour or two
	@$(BIN)/python -m studies findings

why: clients  ## record the cycles that keep clients from ending, 3 min
	@$(BIN)/python -m studies why

conformance: clients  ## make the conformance corpus anew and ask every client about it, 8 min
	@$(BIN)/python -m studies conformance

pages: .venv/.ready  ## write the tables of docs/findings out of the data beside them, without a run
	@$(BIN)/python -m studies pages

since-when: clients  ## run every release of each client on the findings, an hour the first time
	@$(BIN)/python -m studies since-when

on-a-cluster: clients  ## play the joins that never end on a real broker, 35 min
	@$(BIN)/python -m broker --fetch
	@$(BIN)/python -m studies on-a-cluster

verdicts: clients  ## hold every assignor against the optimum on the maintainers' grid, 12 min
	@$(BIN)/python -m studies verdicts

elastic: .venv/.ready  ## hold the rules for elastic groups against the optimum, an hour
	@$(BIN)/python -m studies elastic

how-often: clients  ## count what goes wrong in a week of typical services, hours
	@$(BIN)/python -m studies how-often --many 1000

streams-tasks: clients  ## hunt Kafka's assignors of streams tasks, in every release, 10 min
	@$(BIN)/python -m studies streams-tasks

# One at a time: kernels that start at once are given port numbers of which another may take one first.
notebooks: .venv/.ready-check  ## run every notebook from top to bottom
	@$(BIN)/python -m pytest -q --override-ini addopts= --nbmake --override-ini testpaths=notebooks notebooks

docs: .venv/.ready-check  ## build the documentation, strictly; leaves out/docs/index.html
	@$(BIN)/python -m zensical build --strict --clean
	@! grep -rlE '<(script|link|img)[^>]* (src|href)="?https?:' out/docs --include='*.html'

picture: .venv/.ready  ## draw docs/images/page.png anew, the page of captured groups; needs Chromium
	@mkdir -p out docs/images
	@$(BIN)/assay report corpus/captures/3.9.2/all-describe.txt -o out/picture.html
	@chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=8000 \
	  --window-size=1280,900 --screenshot=docs/images/page.png "file://$(CURDIR)/out/picture.html" 2> /dev/null

lock: .venv/.ready  ## resolve the pinned dependencies anew
	@$(RESOLVE) --extra spark --extra connect --extra plots --extra ilp --extra java --extra clients \
	  --extra dev pyproject.toml -o requirements.lock
	@grep == requirements.lock | sed 's/ \\$$//' > .venv/pins.txt
	@$(RESOLVE) -c .venv/pins.txt --group set-up -o requirements-set-up.lock
	@$(RESOLVE) -c .venv/pins.txt --extra plots --extra java pyproject.toml -o requirements-report.lock
	@$(RESOLVE) -c .venv/pins.txt --all-extras pyproject.toml -o requirements-check.lock

clean:  ## remove .venv/ and out/
	rm -rf .venv out

.venv/.ready-report: requirements-set-up.lock requirements-report.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kafka-assay needs Python 3.11 or later; name it with: make PYTHON=python3.11 ..." >&2; exit 1; }
	@echo "Setting up .venv/: uv installs what the page needs, about 300 MB ..." >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-set-up.lock
	@$(INSTALL) --require-hashes -r requirements-report.lock
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

.venv/.ready: .venv/.ready-report requirements.lock
	@echo "Adding Spark, the clients and the test tools to .venv/: about 700 MB ..." >&2
	@$(INSTALL) --require-hashes -r requirements.lock
	@touch $@

# No stamp says that a client is there: what was fetched lies in the user's cache, not in .venv/.
clients: .venv/.ready  ## add Spark, the test tools and every client to .venv/
	@echo "Looking for the clients that are scored, and fetching those that are not here ..." >&2
	@test -e .venv/.java || $(BIN)/python -m heuristics.shipped.java
	@touch .venv/.java
	@$(BIN)/assay fetch > /dev/null || test $$? -eq 2

# A session of Spark takes half the processor time where Java has the classes of an earlier one.
spark: clients  ## keep the classes of Spark on this machine, for the sessions of the tests
	@test -e .venv/.spark || $(BIN)/assay run corpus/captures --out .venv/first > /dev/null 2>&1 || test $$? -eq 2
	@touch .venv/.spark

# apt is for root; elsewhere who runs the tests brings a Chromium, or does without those of the page.
DEBIAN := chromium fonts-dejavu-core nlohmann-json3-dev

packages:  ## install Debian's packages that some tests need, where apt and root are there
	@dpkg -s $(DEBIAN) > /dev/null 2>&1 || { command -v apt-get > /dev/null && test "$$(id -u)" = 0 && \
	  echo "Installing $(DEBIAN) for the tests ..." >&2 && \
	  apt-get -qq update > /dev/null 2>&1 && \
	  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
	  $(DEBIAN) > /dev/null 2>&1; } || \
	  echo "Not installed: $(DEBIAN). The tests that need them are skipped." >&2

.venv/.ready-check: .venv/.ready requirements-check.lock
	@echo "Adding Jupyter and the site generator to .venv/ ..." >&2
	@$(INSTALL) --require-hashes -r requirements-check.lock
	@touch $@
