package io.streamjob.probe;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.util.AccumulatorV2;

/**
 * Names of versions of stores (checkpointFormatVersion 2). The task that makes a version makes up its name and tells the driver,
 * which hands it to the next batch. It is there when the news of the task's end comes: Spark takes its accumulators first.
 */
final class VersionNames {
  private VersionNames() {
  }

  /** The name, null where none was told for that version. Of two, the first: so does Spark. `top`: as for Recipes. */
  static String of(SparkPlan top, Recipe recipe, int partition, long version) throws Exception {
    Iterator nodes = Recipes.nodes(top).iterator();
    while (nodes.hasNext()) {
      SparkPlan node = (SparkPlan) nodes.next();
      if (Reflect.has(node, "checkpointInfoAccumulator") && operator(node) == recipe.operator) {
        Iterator all = ((List) ((AccumulatorV2) Reflect.call(node, "checkpointInfoAccumulator")).value()).iterator();
        while (all.hasNext()) {
          Object told = all.next();
          if (Reflect.callLong(told, "partitionId") == partition && Reflect.callLong(told, "batchVersion") == version) {
            String[] names = (String[]) Reflect.orNull(Reflect.call(told, "stateStoreCkptId"));
            return names == null || recipe.place >= names.length ? null : names[recipe.place];
          }
        }
      }
    }
    return null;
  }

  private static long operator(SparkPlan node) throws Exception {
    return Reflect.callLong(Reflect.orNull(Reflect.call(node, "stateInfo")), "operatorId");
  }
}
