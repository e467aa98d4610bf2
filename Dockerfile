# Two images from one file, by docker and by buildah:
#   docker build --target operator -t streamjob-operator .
#   docker build --target agent    -t streamjob-agent --build-arg BASE_IMAGE=YOUR_SPARK_IMAGE .
# BASE_IMAGE must hold Python 3.11 or newer with venv and pip; for the agent it is your own Spark image.
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

# The operator: a virtual environment is copied, so neither compilers nor pip's cache reach the image. What no process
# reads stays behind: tests, sources and headers of compiled modules, and the client of Kubernetes for asyncio (as large
# as the one that is used). Bytecode comes later, for what is loaded alone.
FROM build AS operator-dependencies
RUN python3 -m venv /opt/streamjob \
 && /opt/streamjob/bin/pip install --quiet --no-compile --constraint constraints.txt '.[operator,planners]' hatchling \
 && cd /opt/streamjob/lib/python3*/site-packages \
 && find . -type d \( -name tests -o -name test -o -path ./kubernetes/aio \) -prune -exec rm -rf {} + \
 && find . -type f -regex '.*\.\(pyi\|pxd\|pyx\|h\|hpp\|c\|cpp\|a\)' -delete

FROM operator-dependencies AS operator-build
COPY README.md LICENSE ./
COPY operator operator
COPY planners planners
COPY agent agent
COPY simulator simulator
COPY commands commands
RUN /opt/streamjob/bin/pip install --quiet --no-compile --no-deps --no-build-isolation --force-reinstall . \
 && /opt/streamjob/bin/pip uninstall --quiet --yes hatchling trove-classifiers pathspec pluggy pip setuptools \
 && find /opt/streamjob -type d -name __pycache__ -prune -exec rm -rf {} +
# Bytecode and the planners' loops, compiled for any processor of this architecture: each start would spend that CPU again.
# They are valid for sources of the same time, of which layers keep whole seconds. It fails if something needed is missing.
COPY samples/snapshots/skewed-keys.json /tmp/
RUN find /opt/streamjob -name '*.py' -exec touch -d 2020-01-01 {} + \
 && NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES= NUMBA_CACHE_DIR=/opt/streamjob/compiled \
    PYTHONPYCACHEPREFIX=/opt/streamjob/bytecode PYTHONDONTWRITEBYTECODE= \
    /opt/streamjob/bin/python -m streamjob_cli.rehearsal /tmp/skewed-keys.json

FROM ${BASE_IMAGE} AS operator
LABEL org.opencontainers.image.title="streamjob-operator" \
      org.opencontainers.image.description="Autoscales and rebalances Spark Structured Streaming jobs while they run" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=operator-build /opt/streamjob /opt/streamjob
# The root file system may be read-only: compiled loops are copied to a folder that the chart mounts. Another
# NUMBA_CPU_NAME (x86-64-v3, say) compiles them at each start, which pays where plans have 100,000 key groups.
ENV PATH=/opt/streamjob/bin:$PATH PYTHONUNBUFFERED=1 \
    PYTHONPYCACHEPREFIX=/opt/streamjob/bytecode PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES= STREAMJOB_COMPILED_LOOPS=/opt/streamjob/compiled \
    NUMBA_CACHE_DIR=/var/cache/streamjob HOME=/tmp
USER 65532:65532
ENTRYPOINT ["streamjob", "operator"]

# The agent's files alone, for an init container that copies them beside an image that must not change.
FROM build AS agent-build
RUN python3 -m venv /tmp/pip && /tmp/pip/bin/pip install --quiet --constraint constraints.txt --target /opt/streamjob-agent . \
 && rm -rf /opt/streamjob-agent/streamjob_* /opt/streamjob-agent/bin
COPY agent /opt/streamjob-agent

# The agent on your Spark image. Your own Dockerfile needs one line for the same:
#   COPY --from=streamjob-agent /opt/streamjob-agent /opt/streamjob-agent   (and PYTHONPATH=/opt/streamjob-agent)
FROM ${BASE_IMAGE} AS agent
LABEL org.opencontainers.image.title="streamjob-agent" \
      org.opencontainers.image.description="StreamJob's agent for a PySpark driver" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=agent-build /opt/streamjob-agent /opt/streamjob-agent
ENV PYTHONPATH=/opt/streamjob-agent
