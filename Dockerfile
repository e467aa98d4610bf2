# Two images from one file, by docker and by buildah:
#   docker build --target operator -t streamjob-operator .
#   docker build --target agent    -t streamjob-agent --build-arg BASE_IMAGE=YOUR_SPARK_IMAGE .
# BASE_IMAGE must hold Python 3.11 or newer with venv and pip; for the agent it is your own Spark image.
ARG BASE_IMAGE=docker.io/library/python:3.11-slim-bookworm

FROM ${BASE_IMAGE} AS build
USER root
WORKDIR /src
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY operator operator
COPY planners planners
COPY agent agent

# The operator: a virtual environment is copied, so neither compilers nor pip's cache reach the image.
FROM build AS operator-build
RUN python3 -m venv /opt/streamjob \
 && /opt/streamjob/bin/pip install --quiet --constraint constraints.txt '.[operator,planners]' \
 && /opt/streamjob/bin/pip uninstall --quiet --yes pip setuptools \
 && find /opt/streamjob -type d \( -name tests -o -name test \) -path '*/site-packages/*' -prune -exec rm -rf {} + \
 && find /opt/streamjob -name '*.so*' -exec sh -c 'command -v strip >/dev/null && strip --strip-unneeded "$1" 2>/dev/null || :' _ {} \;

FROM ${BASE_IMAGE} AS operator
LABEL org.opencontainers.image.title="streamjob-operator" \
      org.opencontainers.image.description="Autoscales and rebalances Spark Structured Streaming jobs while they run" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=operator-build /opt/streamjob /opt/streamjob
# The root file system may be read-only: compiled planner code goes to a folder that the chart mounts.
ENV PATH=/opt/streamjob/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/var/cache/streamjob MPLCONFIGDIR=/var/cache/streamjob HOME=/tmp
USER 65532:65532
ENTRYPOINT ["streamjob", "operator"]

# The agent's files alone, for an init container that copies them beside an image that must not change.
FROM build AS agent-build
RUN python3 -m venv /tmp/pip && /tmp/pip/bin/pip install --quiet --constraint constraints.txt --target /opt/streamjob-agent '.[kube]' \
 && rm -rf /opt/streamjob-agent/streamjob_operator /opt/streamjob-agent/streamjob_planners /opt/streamjob-agent/streamjob_sim /opt/streamjob-agent/bin

# The agent on your Spark image. Your own Dockerfile needs one line for the same:
#   COPY --from=streamjob-agent /opt/streamjob-agent /opt/streamjob-agent   (and PYTHONPATH=/opt/streamjob-agent)
FROM ${BASE_IMAGE} AS agent
LABEL org.opencontainers.image.title="streamjob-agent" \
      org.opencontainers.image.description="StreamJob's agent for a PySpark driver" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=agent-build /opt/streamjob-agent /opt/streamjob-agent
ENV PYTHONPATH=/opt/streamjob-agent
