package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.metric.SQLMetric;
import scala.Tuple2;

/**
 * Reads the physical plan of each batch: which stateful operators it has, which of them share a stage, and which
 * accumulators (SQL metrics) belong to each. A task names its operator by the accumulators it updates, which works on every
 * Spark version, through foreachBatch and for several queries at once.
 */
final class Plans {
  private static final int BATCHES_KEPT = 4;
  private static final int QUERIES_KEPT = 64;
  private final Registry registry;
  private final Registrar registrar;
  private final ConcurrentHashMap running;
  private final Pins pins;
  private final LinkedHashMap read = new LinkedHashMap(); // query id -> ArrayList of {Long batch, Accumulators}

  /** What one accumulator says. */
  static final class Metric {
    Tracked query;
    int operator;
    int figure; // its place in a Usage's state, -1 where it says nothing of the state
  }

  Plans(Registry registry, Registrar registrar, ConcurrentHashMap running, Pins pins) {
    this.registry = registry;
    this.registrar = registrar;
    this.running = running;
    this.pins = pins;
  }

  /** Of a batch's plan, null where it was not read, or is forgotten. */
  Accumulators accumulators(String queryId, long batch) {
    ArrayList known = (ArrayList) read.get(queryId);
    for (int i = 0; known != null && i < known.size(); i++) {
      Object[] one = (Object[]) known.get(i);
      if (((Long) one[0]).longValue() == batch) {
        return (Accumulators) one[1];
      }
    }
    return null;
  }

  /** On the query's thread while the batch is being planned: its plan may not be evaluated here, only noted. */
  void note(Tracked query, Object execution) throws Exception {
    Object plan = Reflect.call(execution, "lastExecution");
    if (plan != null) {
      synchronized (query) {
        if (query.plans.size() >= BATCHES_KEPT) {
          query.plans.clear();
        }
        query.plans.put(Long.valueOf(Reflect.callLong(plan, "currentBatchId")), plan);
      }
    }
  }

  /** At each job of a batch, as it is taken in; the work is done once per batch. */
  void capture(String queryId, long batch) throws Exception {
    Tracked query = accumulators(queryId, batch) == null ? registry.get(queryId) : null;
    Object plan = query == null ? null : planOf(query, batch);
    if (plan != null) {
      Accumulators accumulators = new Accumulators();
      TreeMap operators = new TreeMap();
      walk((SparkPlan) Reflect.call(plan, "executedPlan"), new Operator[1], query, operators, accumulators);
      remember(queryId, batch, accumulators);
      adopt(query, operators);
      query.shapes.began(Shape.of((SparkPlan) Reflect.call(plan, "executedPlan")));
    }
  }

  private Object planOf(Tracked query, long batch) throws Exception {
    synchronized (query) {
      Object noted = query.plans.remove(Long.valueOf(batch));
      if (noted != null) {
        return noted;
      }
    }
    Iterator executions = running.values().iterator();
    while (executions.hasNext()) {
      Object execution = executions.next();
      if (query.id.equals(String.valueOf(Reflect.call(execution, "id")))) {
        Object last = Reflect.call(execution, "lastExecution");
        return last != null && Reflect.callLong(last, "currentBatchId") == batch ? last : null;
      }
    }
    return null;
  }

  void remember(String queryId, long batch, Accumulators accumulators) {
    ArrayList known = (ArrayList) read.get(queryId);
    if (known == null) {
      known = new ArrayList();
      read.put(queryId, known);
      if (read.size() > QUERIES_KEPT) {
        read.remove(read.keySet().iterator().next());
      }
    }
    known.add(new Object[] {Long.valueOf(batch), accumulators});
    if (known.size() > BATCHES_KEPT) {
      known.remove(0);
    }
  }

  /** Its next batch is read anew, also one of a number that was read before: a new run begins with the old number. */
  void forgetQuery(String queryId) {
    read.remove(queryId);
  }

  /**
   * `leader` holds the first stateful operator met since the last exchange above: it names all that share its tasks. A
   * union's inputs have tasks of their own, unless all of them are partitioned alike (Spark 4.1 and newer): then one task
   * works on a partition of each.
   */
  private void walk(SparkPlan node, Operator[] leader, Tracked query, TreeMap operators, Accumulators accumulators)
      throws Exception {
    Operator[] here = node instanceof Exchange ? new Operator[1] : leader;
    Object state = Reflect.has(node, "stateInfo") ? Reflect.orNull(Reflect.call(node, "stateInfo")) : null;
    if (state != null) {
      int id = (int) Reflect.callLong(state, "operatorId");
      if (here[0] == null) {
        here[0] = (Operator) operators.get(Integer.valueOf(id));
      }
      if (here[0] == null) {
        here[0] = new Operator(id, width(node, (int) Reflect.callLong(state, "numPartitions")));
        here[0].top = node;
        operators.put(Integer.valueOf(id), here[0]);
      }
      here[0].pinned |= pins.pins(node);
      addStores(here[0], node, id);
      addMetrics(node, query, here[0].id, accumulators);
    }
    boolean apart = "UnionExec".equals(node.getClass().getSimpleName())
        && "UnknownPartitioning".equals(node.outputPartitioning().getClass().getSimpleName());
    scala.collection.Iterator children = node.children().iterator();
    while (children.hasNext()) {
      walk((SparkPlan) children.next(), apart ? new Operator[1] : here, query, operators, accumulators);
    }
  }

  /** An operator without grouping keys has one partition, whatever the checkpoint's number is. */
  private static int width(SparkPlan node, int declared) {
    int actual = node.outputPartitioning().numPartitions();
    return actual == 1 ? 1 : declared;
  }

  private static void addStores(Operator operator, SparkPlan node, int id) throws Exception {
    if (Reflect.has(node, "stateStoreNames")) {
      scala.collection.Iterator names = ((scala.collection.Seq) Reflect.call(node, "stateStoreNames")).iterator();
      while (names.hasNext()) {
        operator.addStore(id, (String) names.next());
      }
    } else if (JoinRecipes.joins(node)) {
      for (int i = 0; i < Binder.JOIN_STORES.length; i++) {
        operator.addStore(id, Binder.JOIN_STORES[i]);
      }
    } else {
      operator.addStore(id, "default");
    }
  }

  private static void addMetrics(SparkPlan node, Tracked query, int operator, Accumulators accumulators) {
    scala.collection.Iterator all = node.metrics().iterator();
    while (all.hasNext()) {
      Tuple2 entry = (Tuple2) all.next();
      Metric metric = new Metric();
      metric.query = query;
      metric.operator = operator;
      metric.figure = Arrays.asList(Usage.STATE).indexOf(entry._1());
      accumulators.put(((SQLMetric) entry._2()).id(), metric);
    }
  }

  /** Replaces the guess, or an older plan, by what this batch really runs; owners known by then are kept. */
  private void adopt(Tracked query, TreeMap operators) {
    synchronized (query) {
      Iterator each = operators.values().iterator();
      while (each.hasNext()) {
        Operator fresh = (Operator) each.next();
        Operator old = query.operator(fresh.id);
        if (old != null && old.partitions == fresh.partitions) {
          old.stores = fresh.stores;
          old.top = fresh.top;
          old.pinned = fresh.pinned;
          operators.put(Integer.valueOf(fresh.id), old);
        }
      }
      query.operators.clear();
      query.operators.putAll(operators);
      query.planned = true;
    }
    if (registrar.on) {
      registrar.spread(query);
    }
  }
}
