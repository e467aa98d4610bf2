package io.streamjob.probe;

import org.apache.spark.sql.execution.SparkPlan;

/**
 * Which stateful nodes should not be opened anew. Spark 3.5 holds a store's schema against the one of its first batch,
 * wherever partition 0 is opened first; an inner join whose one side has no rows in that batch is planned with keys that may
 * be null, and fails there for good.
 */
final class Pins {
  private final boolean compares;

  Pins(String version) {
    compares = version.startsWith("3.5.");
  }

  /** Whether partition 0 of the node's stage should stay where it is. */
  boolean pins(SparkPlan node) {
    return compares && JoinRecipes.joins(node) && checks(node);
  }

  private static boolean checks(SparkPlan join) {
    try {
      Object conf = JoinRecipes.hidden(join, "storeConf");
      return ((Boolean) Reflect.call(conf, "stateSchemaCheckEnabled")).booleanValue();
    } catch (Exception untold) {
      return true; // as Spark does unless it is told otherwise
    }
  }
}
