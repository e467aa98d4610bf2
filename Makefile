# Every target sets up what it needs: a fresh machine with Python 3.11 and Java 17 is enough.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
# Bytecode is left to the first import: most modules are never imported.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
export SPARK_LOCAL_IP ?= 127.0.0.1
# A module is compiled once, not by each of the hundreds of processes that tests start.
unexport PYTHONDONTWRITEBYTECODE
SPARK_VERSIONS ?= 3.5.9 4.0.5 4.1.4 4.2.1 4.3.0
# Spark 3.5's pandas state does not work with newer Arrow.
# Tried with every row of the compatibility table; the others with its first half.
SPARK_WHOLE ?= 4.0.5 4.3.0
ARROW_3.5.9 := 'pyarrow<18'
# What `make test` and its parts leave to `make long-tests`.
SHORT := not long

.PHONY: setup help demo test lint lint-style lint-types lint-imports lint-pages reference unit busy spark-tests kube kube-tests helm cluster cluster-down kind kind-down images e2e faults fleet demo-operator long-tests test-matrix spark-compatibility soak bench figures tournament planners-goals jobs jobs-kafka jobs-harm bench-jobs bench-scaling peers object-store mutants clean

setup: $(VENV)/.ready

# What there is to make: the rows of README's table.
help:
	@sed -n -E '/^\| `make /{s/\[([^]]*)\]\([^)]*\)/\1/g; s/`//g; s/^\| //; s/ \|$$//; s/ \| /\n    /; p}' README.md

# Packages, and beside them the planners' loops, which are compiled once.
$(VENV)/.ready: pyproject.toml constraints.txt
	$(MAKE) --no-print-directory -j2 $(VENV)/.loops $(VENV)/.packages
	touch $@

$(VENV)/.packages: $(VENV)/.compiler
	$(PIP) --constraint constraints.txt --editable '.[dev]'
	touch $@

$(VENV)/.loops: $(VENV)/.compiler
	@echo "Compiling the planners' loops, once"
	PYTHONPATH=planners $(BIN)/python -m streamjob_planners.warm
	touch $@

$(VENV)/.compiler: pyproject.toml constraints.txt
	@command -v java >/dev/null || { echo "Java 17 is needed (Debian: apt-get install openjdk-17-jre-headless)"; exit 1; }
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed; set PYTHON=... to name yours"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --constraint constraints.txt numba numpy scipy
	touch $@

demo: setup
	$(BIN)/python samples/demo/demo.py

# Types take the longest: all else is done beside them.
LINT := lint-types lint-imports lint-pages lint-style

lint: setup
	$(MAKE) --no-print-directory -j2 $(LINT)

# Without its cache, which does not know that a folder has become a package (what is sorted where depends on it).
lint-style: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --no-cache .

lint-types: setup
	$(BIN)/mypy

lint-imports: setup
	$(BIN)/lint-imports

lint-pages: setup
	$(BIN)/streamjob crds --check
	$(BIN)/python docs/reference/make.py --check
	$(BIN)/streamjob crds --check --folder charts/streamjob/crd-files
	$(BIN)/python charts/readme.py --check

# What is made from the models: the CRDs, here and in the chart, and docs/reference/.
reference: setup
	$(BIN)/streamjob crds
	$(BIN)/streamjob crds --folder charts/streamjob/crd-files
	$(BIN)/python docs/reference/make.py
	$(BIN)/python charts/readme.py

unit: setup
	$(BIN)/pytest -m "not spark and not kube and $(SHORT)"

# The computing tests as on a machine that is BUSY times as slow as its clock: what fails only here trusts a clock.
BUSY ?= 10
busy: setup
	PYTHONPATH=tests/busy BUSY=$(BUSY) $(BIN)/pytest -m "not spark and not kube and not prometheus and $(SHORT)"

spark-tests: setup
	$(BIN)/pytest -m "spark and $(SHORT)"

# The binary of the tests on a real Kubernetes API server: $STREAMJOB_KUBE, the cache, or 9 minutes of building with Go.
kube: setup
	$(BIN)/python -m e2e.cluster.binary

kube-tests: kube
	$(BIN)/pytest -m kube

# The chart's tests want helm: the one on PATH, the cache, or two minutes of building with Go.
helm: setup
	$(BIN)/python -m e2e.cluster.helm

# A cluster of one node on this machine, in a network of its own, for a person who wants to play (root, Debian). A second
# node, while it runs: .venv/bin/python -m e2e.cluster.local join, and part.
cluster: setup
	$(BIN)/python -m e2e.cluster.local start
	$(BIN)/python -m e2e.cluster.helm
	$(BIN)/python -m e2e.cluster.local load

cluster-down:
	$(BIN)/python -m e2e.cluster.local stop

# A cluster of kind: a control plane and two workers, on the Docker engine that answers, else (root, Debian) on one of our
# own, whose node image is made here: about ten minutes the first time. A pulled kindest/node of the suite's Kubernetes
# version is taken.
kind: setup
	$(BIN)/python -m e2e.kind start
	$(BIN)/python -m e2e.kind load

kind-down:
	$(BIN)/python -m e2e.kind stop

# The images of the suite, by buildah: some ten minutes the first time, then what an edit touches.
images: setup
	$(BIN)/python -m e2e.cluster.images

# Chart, operator and Spark jobs on pods of a real cluster: $KUBECONFIG's, else one made for it, CLUSTER=local (as without
# it) or CLUSTER=kind, on KUBERNETES=1.34 (as without it) or 1.30. Its Kafka cases want Maven (Debian: maven), once.
# ADDRESSES=IPv6 gives the local one no other addresses.
# PAGE=docs/e2e.md writes the table of the cases, also of failed ones.
e2e: setup
	rm -f out/e2e/junit.xml
	$(if $(CLUSTER),CLUSTER=$(CLUSTER)) $(BIN)/python -m e2e.suite; outcome=$$?; \
	  $(if $(PAGE),test ! -f out/e2e/junit.xml || $(BIN)/python -m e2e.suite.page out/e2e/junit.xml $(PAGE) $(if $(CLUSTER),--cluster $(CLUSTER));) exit $$outcome

# What may go wrong around the operator, one fault at a time, and what came of it: a table, in a quarter of an hour.
faults: kube
	$(BIN)/python -m e2e.faults $(ONLY) $(if $(PAGE),--page $(PAGE))

# One operator for many jobs that come, go and change, on a real API server with a real Prometheus: cycles, reactions,
# requests, memory beside the aims. JOBS=60 for less; a minute for each of ten trials.
JOBS ?= 1000
fleet: kube
	$(BIN)/python -m benchmarks.operator.fleet --jobs $(JOBS) --large 10000 --churn 2 --trials 10 --seconds 60 --out benchmarks/limits/operator.json

# The operator on a real API server with a real Prometheus and a real Spark: `kubectl apply`, and watch.
demo-operator: kube
	$(BIN)/python samples/operator-demo/demo.py

# Three runs side by side: tests on real Spark, those on a real API server or Prometheus, which mostly wait, and those that
# compute, which give way. The demos have the machine to themselves. out/tests tells what each case took. A run in which much
# fails ends early and says what, instead of waiting for the rest.
JUNIT = --junit-xml out/tests/$(1).xml --maxfail 12
test: lint
	mkdir -p out/tests
	$(BIN)/pytest $(call JUNIT,servers) -m "(kube or prometheus) and not spark and not demo and $(SHORT)" \
	  > out/tests/servers.log 2>&1 & servers=$$!; \
	  nice -n 10 $(BIN)/pytest $(call JUNIT,unit) -m "not spark and not kube and not prometheus and $(SHORT)" \
	  > out/tests/unit.log 2>&1 & unit=$$!; \
	  $(BIN)/pytest $(call JUNIT,spark) -m "spark and not demo and $(SHORT)"; outcome=$$?; \
	  wait $$servers || outcome=1; cat out/tests/servers.log; \
	  wait $$unit || outcome=1; cat out/tests/unit.log; \
	  $(BIN)/pytest $(call JUNIT,demo) -m demo || outcome=1; exit $$outcome

# Further seeds and worlds of what `make test` tries with one of each, on simulated jobs and on real Spark; LONG=spark or
# LONG=simulated runs one of both. The simulated ones took half an hour beside other work.
# PAGE=docs/long-tests.md writes the table of them, also of failed ones.
LONG ?= simulated spark
LONG_simulated := not spark
LONG_spark := spark
long-tests: setup
	outcome=0; $(foreach part,$(LONG),$(BIN)/pytest -m "long and $(LONG_$(part))" --junit-xml out/long/$(part).xml || outcome=1;) \
	  $(if $(PAGE),$(BIN)/python -m e2e.long_tests out/long/simulated.xml out/long/spark.xml $(PAGE) || outcome=1;) exit $$outcome

# Real Spark, about an hour and a half on two cores that do nothing else; every script goes on where it was stopped, and
# takes options for less, see docs/benchmarks.md. Results go to out/benchmarks, figures to benchmarks/limits/spark.json.
bench: setup
	$(BIN)/python benchmarks/spark/overhead.py
	$(BIN)/python benchmarks/spark/move_pause.py
	$(BIN)/python benchmarks/spark/compare.py --loops-per-ms "$$($(BIN)/python benchmarks/spark/calibrate.py)"
	$(BIN)/python benchmarks/spark/limits.py

.PRECIOUS: .venv-spark-%/.ready

# The integration tests on each Spark version, in an environment of its own.
test-matrix: $(addprefix test-spark-,$(SPARK_VERSIONS))

test-spark-%: .venv-spark-%/.ready
	.venv-spark-$*/bin/pytest -m spark tests/integration

.venv-spark-%/.ready: pyproject.toml constraints.txt
	test -x .venv-spark-$*/bin/python || $(PYTHON) -m venv .venv-spark-$*
	grep -v -e '^pyspark==' -e '^py4j==' -e '^pyarrow==' constraints.txt > .venv-spark-$*/constraints.txt
	.venv-spark-$*/bin/pip install --quiet --disable-pip-version-check --constraint .venv-spark-$*/constraints.txt \
	  --editable '.[dev]' 'pyspark==$*' $(ARROW_$*)
	touch $@

# What users run, each row with the agent in its driver: all rows on the newest Spark and on 4.0, the first half of them on the
# others; writes docs/reference/compatibility.md. For less: .venv/bin/python -m e2e.compatibility run --rows NAME,...
spark-compatibility: setup object-store $(addprefix spark-rows-,$(SPARK_VERSIONS))
	$(BIN)/python -m e2e.compatibility page docs/reference/compatibility.md

# Two hours of queries that come and go in one driver, executors killed, and beside it the same without the agent: does
# what the agent keeps level off?
soak: setup
	$(BIN)/python -m e2e.soak --out out/soak/alone run --without-agent --hours $(or $(HOURS),2) > out/soak-alone.log & alone=$$!; \
	  $(BIN)/python -m e2e.soak run --hours $(or $(HOURS),2); outcome=$$?; wait $$alone && exit $$outcome
	$(BIN)/python -m e2e.soak page docs/soak.md

spark-rows-%: .venv-spark-%/.ready
	.venv-spark-$*/bin/python -m e2e.compatibility run $(if $(filter $*,$(SPARK_WHOLE)),,--part)

# The papers' figures, ours beside the paper's statement, into out/figures/, in pieces that are made once: a stopped run
# goes on. PAPER=albic, elb, cbp, rod, blocking, or some by commas; QUICK=--quick runs a part, SECONDS=500 ends in time.
figures: setup
	$(BIN)/python -m benchmarks.figures $(if $(PAPER),--paper $(PAPER)) $(QUICK) $(if $(SECONDS),--seconds $(SECONDS))

# All planners on the same jobs, in pieces that are measured once; writes docs/figures/tournament.md.
tournament: setup
	$(BIN)/python -m benchmarks.tournament

# Every goal of the planners, in pieces of at most five minutes that are measured once; see docs/benchmarks-planners.md.
planners-goals: setup
	$(BIN)/python -m benchmarks.planners_goals
	$(BIN)/python -m benchmarks.batches

# The jobs of jobs/ as plain Spark, under the agent with key groups that move at random all the time, then with an executor
# and the driver of each killed, too; writes docs/workloads.md. For less:
# .venv/bin/python -m jobs all --only NAME,... --vanilla --rows N --batches N
# and, of those that a column has as not run, as many as fit in so many seconds:
# .venv/bin/python -m jobs fill docs/workloads.md --vanilla --rows N --key-groups N --seconds N
jobs: setup
	$(BIN)/python -m jobs all --vanilla; outcome=$$?; \
	  $(BIN)/python -m jobs all || outcome=1; \
	  $(BIN)/python -m jobs all --kill-executors 1 --kill-driver || outcome=1; \
	  $(BIN)/python -m jobs page docs/workloads.md; exit $$outcome

# The same jobs for what they take, not for what is right: plain Spark with several settings beside StreamJob, in pieces that
# are kept, hours on two cores that do nothing else; writes docs/workloads-benefit.md. ONLY=fraud,ysb SYSTEMS=vanilla,balance
# ROUNDS=3 SHAPE=cpu SECONDS=1100 run less.
bench-jobs: setup
	$(BIN)/python -m benchmarks.jobs_on_spark $(if $(ONLY),--only $(ONLY)) $(if $(SYSTEMS),--systems $(SYSTEMS)) \
	  $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SHAPE),--shape $(SHAPE)) $(if $(SECONDS),--seconds $(SECONDS)); outcome=$$?; \
	  $(BIN)/python -m benchmarks.jobs_on_spark --publish; exit $$outcome

# One of them from a Kafka of this machine's own, which is killed in mid-run; wants Maven (Debian: maven), once.
jobs-kafka: setup
	$(BIN)/python -m e2e.cluster.kafka
	$(BIN)/pytest tests/integration/jobs/test_kafka.py

# All of them for MINUTES (10 as without it) each, or those of ONLY, from a Kafka of this machine's own, with all harm that
# there is: moves, kills, drains, stalls of Kafka and of the checkpoints' file system; wants Maven and bindfs (Debian: maven,
# bindfs). Writes docs/workloads.md.
jobs-harm: setup
	$(BIN)/python -m e2e.cluster.kafka
	rm -rf out/jobs/kafka; mkdir -p out/jobs; : > out/jobs/broker
	$(BIN)/python -m e2e.cluster.broker out/jobs/kafka > out/jobs/broker & broker=$$!; trap "kill $$broker" EXIT; \
	  until grep -q : out/jobs/broker; do kill -0 $$broker || exit 1; sleep 1; done; \
	  jars=$$($(BIN)/python -c "from e2e.cluster import kafka; print(kafka.get(kafka.CONNECTOR))"); \
	  $(BIN)/python -m jobs all --minutes $(or $(MINUTES),10) $(if $(ONLY),--only $(ONLY)) \
	    --source kafka --bootstrap $$(cat out/jobs/broker) --jars $$jars; outcome=$$?; \
	  $(BIN)/python -m jobs page docs/workloads.md; exit $$outcome

# A server of S3's interface for measurements with a remote checkpoint, in an environment of its own:
#   .venv/bin/python benchmarks/spark/move_pause.py --checkpoint s3
object-store: setup .venv-object-store/.ready

.venv-object-store/.ready: benchmarks/object_store/requirements.txt
	test -x .venv-object-store/bin/python || $(PYTHON) -m venv .venv-object-store
	.venv-object-store/bin/pip install --quiet --disable-pip-version-check --requirement benchmarks/object_store/requirements.txt
	touch $@

# Every scaling rule on every trace, on paper; what was run before is kept. `python -m benchmarks.scaling --help` for less.
bench-scaling: setup
	$(BIN)/python -m benchmarks.scaling

# Whether a test would notice if the agent, the cycle or the judge decided otherwise; writes docs/mutants.md. What was run
# before is kept in out/mutants. For less: MODULES="gate verify", for more: SAMPLE=all.
SAMPLE ?= 60
mutants: setup .venv-mutants/.ready
	nice -n 15 $(BIN)/python -m benchmarks.mutants $(MODULES) --sample $(SAMPLE)

.venv-mutants/.ready: benchmarks/mutants/requirements.txt
	test -x .venv-mutants/bin/python || $(PYTHON) -m venv .venv-mutants
	.venv-mutants/bin/pip install --quiet --disable-pip-version-check --requirement benchmarks/mutants/requirements.txt
	touch $@

# Outside solvers to compare the planners with, in an environment of their own. Without Python 3.12 or newer Meta's
# rebalancer is left out.
PEERS_PYTHON ?= $(firstword $(foreach one,python3.12 python3.13 $(PYTHON),$(shell $(one) -c pass 2>/dev/null && echo $(one))))
peers: setup .venv-peers/.ready

.venv-peers/.ready: benchmarks/peers/requirements.txt
	test -x .venv-peers/bin/python || $(PEERS_PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet --disable-pip-version-check --requirement benchmarks/peers/requirements.txt
	touch $@

clean:
	rm -rf $(VENV) .venv-spark-* .venv-peers .venv-object-store .venv-mutants out build dist
