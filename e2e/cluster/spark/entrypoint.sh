#!/bin/sh
# PySpark from PyPI has Spark's Kubernetes parts but no entry point: Spark starts an executor's pod with the argument
# "executor" and tells it the rest through variables. Anything else is a command.
set -eu
[ "${1:-}" = executor ] || exec "$@"
options=$(env | sed -n 's/^SPARK_JAVA_OPT_[0-9]*=//p')
# shellcheck disable=SC2086 - the options are words on purpose
exec java $options -Xms"$SPARK_EXECUTOR_MEMORY" -Xmx"$SPARK_EXECUTOR_MEMORY" \
  -cp "${SPARK_CONF_DIR:-/opt/spark/conf}:$SPARK_HOME/jars/*" \
  org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
  --driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES" \
  --app-id "$SPARK_APPLICATION_ID" --hostname "$SPARK_EXECUTOR_POD_IP" \
  --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" --podName "$SPARK_EXECUTOR_POD_NAME"
