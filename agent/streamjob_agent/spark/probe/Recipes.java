package io.streamjob.probe;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.Exchange;

/** What the tasks of a stage open their stores by, read from the query's plan and the RDDs that it makes: no job runs for it. */
final class Recipes {
  private static final String[] PARTS = {
    "keySchema", "valueSchema", "keyStateEncoderSpec", "stateSchemaBroadcast", "useColumnFamilies", null, null,
    "useMultipleValuesPerKey"
  };
  private static final String[] EARLY_PARTS = {"keySchema", "valueSchema", "numColsPrefixKey", null, null, null, null, null};

  private static final String INITIAL = "hasInitialState";

  private Recipes() {
  }

  /** A Recipe for each store that the stage writes; `top` is the first stateful node of it. */
  static List of(SparkPlan top) throws Exception {
    ArrayList found = new ArrayList();
    SparkPlan later = later(top);
    collect(later.execute(), found);
    Iterator nodes = nodes(later).iterator();
    while (nodes.hasNext()) {
      SparkPlan node = (SparkPlan) nodes.next();
      if (JoinRecipes.joins(node)) {
        JoinRecipes.add(node, found);
      }
    }
    return found;
  }

  /**
   * The node as batches after the first one plan it. A query's batch 0 takes an initial state in, by tasks that have no
   * executor of their own and RDDs that tell nothing of stores; the stores are those of all later ones.
   */
  private static SparkPlan later(SparkPlan node) throws Exception {
    boolean takes = Reflect.has(node, INITIAL) && ((Boolean) Reflect.call(node, INITIAL)).booleanValue();
    if (!takes || !Reflect.has(node, "productElementNames")) { // Scala 2.12, of Spark 3.5, does not name them
      return node;
    }
    Object[] parts = new Object[node.productArity()];
    scala.collection.Iterator names = (scala.collection.Iterator) Reflect.call(node, "productElementNames");
    for (int i = 0; i < parts.length; i++) {
      parts[i] = INITIAL.equals(names.next()) ? Boolean.FALSE : node.productElement(i);
    }
    return (SparkPlan) node.makeCopy(parts);
  }

  /** The plan's nodes that run in the same tasks, from this one on. */
  static List nodes(SparkPlan top) {
    ArrayList nodes = new ArrayList();
    nodes.add(top);
    for (int i = 0; i < nodes.size(); i++) {
      scala.collection.Iterator children = ((SparkPlan) nodes.get(i)).children().iterator();
      while (children.hasNext()) {
        Object child = children.next();
        if (!(child instanceof Exchange)) {
          nodes.add(child);
        }
      }
    }
    return nodes;
  }

  private static void collect(RDD rdd, List found) throws Exception {
    if ("StateStoreRDD".equals(rdd.getClass().getSimpleName())) {
      String[] names = isEarly(rdd.getClass()) ? EARLY_PARTS : PARTS;
      Object[] parts = new Object[names.length];
      for (int i = 0; i < names.length; i++) {
        parts[i] = names[i] == null ? null : part(rdd.getClass(), rdd, names[i]);
      }
      Object conf = Reflect.call(rdd, "storeConf");
      parts[5] = conf;
      parts[6] = Reflect.call(rdd, "hadoopConfBroadcast");
      if (staysOpen(conf)) {
        long operator = ((Long) part(rdd.getClass().getSuperclass(), rdd, "operatorId")).longValue();
        found.add(new Recipe(operator, "default", 0, named(conf), parts));
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

  /** Whether a store is kept after its commit: before Spark 4.1 all are. */
  static boolean staysOpen(Object conf) throws Exception {
    return !isOn(conf, "unloadOnCommit");
  }

  /** Whether versions have names that only their own tasks choose: before Spark 4.0 none has. */
  static boolean named(Object conf) throws Exception {
    return isOn(conf, "enableStateStoreCheckpointIds");
  }

  private static boolean isOn(Object conf, String setting) throws Exception {
    return Reflect.has(conf, setting) && ((Boolean) Reflect.call(conf, setting)).booleanValue();
  }

  /** Spark 3.5. */
  private static boolean isEarly(Class type) {
    Field[] all = type.getDeclaredFields();
    boolean early = false;
    for (int i = 0; i < all.length; i++) {
      early |= all[i].getName().equals(EARLY_PARTS[2]);
    }
    return early;
  }

  private static Object part(Class type, Object of, String name) throws Exception {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }
}
