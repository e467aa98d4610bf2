package io.streamjob.plugin;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** What `spark.plugins` names: the agent for a driver that is not Python's. */
public final class StreamJobPlugin implements SparkPlugin {
  public DriverPlugin driverPlugin() {
    return new Door();
  }

  /** Nothing of the agent is in an executor. */
  public ExecutorPlugin executorPlugin() {
    return null;
  }
}
