# Two images from one file, by docker and by buildah:
#   docker build --target operator -t streamjob-operator .
#   docker build --target agent    -t streamjob-agent --build-arg BASE_IMAGE=YOUR_SPARK_IMAGE .
# BASE_IMAGE must hold Python 3.11 or newer with venv and pip, for the operator on Debian; for the agent it is your own Spark
# image.
ARG BASE_IMAGE=docker.io/library/python:3.11-slim-bookworm

# What the project needs, without the project: empty packages stand for it, so that an edit of the sources leaves these
# layers as they are.
FROM ${BASE_IMAGE} AS build
USER root
WORKDIR /src
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
COPY pyproject.toml constraints.txt ./
RUN touch README.md LICENSE \
 && for package in operator/streamjob_operator planners/streamjob_planners simulator/streamjob_sim \
      agent/streamjob_agent commands/streamjob_cli; do \
      mkdir -p "$package" && touch "$package/__init__.py"; \
    done

# The operator: its packages, and a compiler for the planners' loops. None of this stage but a virtual environment is copied.
FROM build AS operator-dependencies
RUN apt-get update -qq \
 && apt-get install -qq --yes --no-install-recommends binutils g++ libc6-dev libpython3-dev >/dev/null
RUN python3 -m venv /opt/streamjob \
 && /opt/streamjob/bin/pip install --quiet --no-compile --constraint constraints.txt '.[operator,planners]' hatchling setuptools

# The planners' loops, ahead of time, for any processor of this architecture: numba and LLVM stay in this stage. Another CPU
# (--build-arg NUMBA_CPU_NAME=x86-64-v3, say) pays where plans have 100,000 key groups.
FROM operator-dependencies AS loops
ARG NUMBA_CPU_NAME=generic
COPY planners planners
RUN mkdir /loops && NUMBA_CPU_NAME=$NUMBA_CPU_NAME NUMBA_CPU_FEATURES= NUMBA_CACHE_DIR=/tmp/loops PYTHONPATH=planners \
    /opt/streamjob/bin/python -W ignore -m streamjob_planners.building /loops

# What no process reads stays behind: tests, sources and headers of compiled modules, symbols (but in *.libs:
# their makers have patched these libraries, and they do not load without), parts of scipy and ortools, and of the client of
# Kubernetes its copy for asyncio and the typed calls, as the operator's are dynamic.
FROM operator-dependencies AS operator-build
COPY README.md LICENSE ./
COPY operator operator
COPY planners planners
COPY agent agent
COPY simulator simulator
COPY commands commands
COPY --from=loops /loops /loops
RUN /opt/streamjob/bin/pip install --quiet --no-compile --no-deps --no-build-isolation --force-reinstall . \
 && /opt/streamjob/bin/pip uninstall --quiet --yes numba llvmlite hatchling trove-classifiers pathspec pluggy pip setuptools \
 && cd /opt/streamjob/lib/python3*/site-packages \
 && cp /loops/* streamjob_planners/kernel/ \
 && rm -rf kubernetes/aio kubernetes/client/api scipy/io scipy/signal scipy/odr \
 && find ortools -mindepth 1 -maxdepth 1 -type d -not -name sat -not -name util -not -name .libs -exec rm -rf {} + \
 && find . -type d \( -name tests -o -name test -o -name __pycache__ \) -prune -exec rm -rf {} + \
 && find . -type f -regex '.*\.\(pyi\|pxd\|pyx\|h\|hpp\|c\|cpp\|a\)' -delete \
 && find . -type f -name '*.so*' -not -regex '\./[^/]*\.libs/.*' -exec strip --strip-unneeded {} +
# Each start would compile what it loads again. Bytecode is valid for sources of the same time, of which layers keep whole
# seconds. The rehearsal fails if something needed is missing.
COPY samples/snapshots/skewed-keys.json /tmp/
RUN find /opt/streamjob -name '*.py' -exec touch -d 2020-01-01 {} + \
 && PYTHONPYCACHEPREFIX=/opt/streamjob/bytecode PYTHONDONTWRITEBYTECODE= \
    /opt/streamjob/bin/python -m streamjob_cli.rehearsal /tmp/skewed-keys.json

# Debian without what the operator never runs: installers of packages, perl, documents and translations. The list of installed
# packages, which scanners read, says so. A shell and its tools stay.
FROM ${BASE_IMAGE} AS operator-base
USER root
RUN dpkg --purge --force-all \
      python3-venv python3.11-venv python3-pip python3-pip-whl python3-setuptools python3-setuptools-whl python3-wheel \
      python3-pkg-resources python3-distutils python3-lib2to3 \
      apt libapt-pkg6.0 gpgv libgnutls30 libp11-kit0 libhogweed6 libidn2-0 libunistring2 \
      e2fsprogs libext2fs2 libss2 logsave >/dev/null 2>&1 \
 && dpkg --purge --force-all debconf perl-base >/dev/null 2>&1 \
 && find / -xdev -type d -name __pycache__ -prune -exec rm -rf {} + \
 && rm -rf /usr/share/doc /usr/share/man /usr/share/info /usr/share/locale /usr/lib/*/gconv /var/cache/* /var/lib/apt /tmp/*

FROM scratch AS operator
LABEL org.opencontainers.image.title="streamjob-operator" \
      org.opencontainers.image.description="Autoscales and rebalances Spark Structured Streaming jobs while they run" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=operator-base / /
COPY --from=operator-build /opt/streamjob /opt/streamjob
# The root file system may be read-only. Two arenas of the C library for all threads: each of dozens would keep what it has had
# (docs/decisions/0062-cycle-cost.md).
ENV MALLOC_ARENA_MAX=2 PATH=/opt/streamjob/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    PYTHONUNBUFFERED=1 PYTHONPYCACHEPREFIX=/opt/streamjob/bytecode PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
USER 65532:65532
ENTRYPOINT ["streamjob", "operator"]

# The agent's files alone, for an init container that copies them beside an image that must not change.
FROM build AS agent-build
RUN python3 -m venv /tmp/pip && /tmp/pip/bin/pip install --quiet --constraint constraints.txt --target /opt/streamjob-agent . \
 && rm -rf /opt/streamjob-agent/streamjob_* /opt/streamjob-agent/bin
COPY agent /opt/streamjob-agent

# The agent on your Spark image. Your own Dockerfile needs one line for the same:
#   COPY --from=streamjob-agent /opt/streamjob-agent /opt/streamjob-agent   (and the last line of this file)
FROM ${BASE_IMAGE} AS agent
LABEL org.opencontainers.image.title="streamjob-agent" \
      org.opencontainers.image.description="StreamJob's agent for a PySpark driver" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=agent-build /opt/streamjob-agent /opt/streamjob-agent
# What your image has there stays; an empty entry would be the working directory.
ENV PYTHONPATH=/opt/streamjob-agent${PYTHONPATH:+:$PYTHONPATH}
