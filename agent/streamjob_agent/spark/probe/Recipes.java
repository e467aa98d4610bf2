package io.streamjob.probe;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.execution.SparkPlan;

/** What the tasks of a stage open their stores by, read from the RDDs that the query's plan makes: no job runs for it. */
final class Recipes {
  private static final String[] PARTS = {
    "keySchema", "valueSchema", "keyStateEncoderSpec", "stateSchemaBroadcast", "useColumnFamilies", null, null,
    "useMultipleValuesPerKey"
  };

  private Recipes() {
  }

  /** {Long operator id, Object[] recipe} of each store that an RDD of the stage writes; a join's stores are opened otherwise. */
  static List of(SparkPlan top) throws Exception {
    ArrayList found = new ArrayList();
    collect(top.execute(), found);
    return found;
  }

  private static void collect(RDD rdd, List found) throws Exception {
    if ("StateStoreRDD".equals(rdd.getClass().getSimpleName())) {
      Object[] recipe = recipe(rdd);
      if (recipe != null) {
        found.add(new Object[] {part(rdd.getClass().getSuperclass(), rdd, "operatorId"), recipe});
      }
    }
    scala.collection.Iterator each = rdd.dependencies().iterator();
    while (each.hasNext()) {
      Dependency dependency = (Dependency) each.next();
      if (!(dependency instanceof ShuffleDependency)) {
        collect(dependency.rdd(), found);
      }
    }
  }

  /** Null where versions of the store have names that only its newest task knows, or where no store stays open. */
  private static Object[] recipe(RDD rdd) throws Exception {
    Object conf = Reflect.call(rdd, "storeConf");
    if (((Boolean) Reflect.call(conf, "enableStateStoreCheckpointIds")).booleanValue()
        || ((Boolean) Reflect.call(conf, "unloadOnCommit")).booleanValue()) {
      return null;
    }
    Object[] recipe = new Object[PARTS.length];
    for (int i = 0; i < PARTS.length; i++) {
      recipe[i] = PARTS[i] == null ? null : part(rdd.getClass(), rdd, PARTS[i]);
    }
    recipe[5] = conf;
    recipe[6] = Reflect.call(rdd, "hadoopConfBroadcast");
    return recipe;
  }

  private static Object part(Class type, Object of, String name) throws Exception {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }
}
