package io.streamjob.probe;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.util.AccumulatorV2;

/**
 * One batch's plan as a graph: stateful operators with the columns they are keyed by, and the shuffles between them. Its
 * text says what the plan is, the same for each batch of one plan; `metrics` are what the batch measures, in the order in
 * which the text names them. Columns are numbered in the order met: their own numbers are new in each batch.
 */
final class Shape {
  static final String[] SHUFFLE = {"shuffleBytesWritten", "shuffleRecordsWritten", "shuffleWriteTime", "fetchWaitTime"};
  final ArrayList metrics = new ArrayList(); // SQLMetric, or null for what this plan does not tell
  private final StringBuilder text = new StringBuilder();
  private final HashMap same = new HashMap(); // Object column -> the column that it is another name of
  private final HashMap numbers = new HashMap(); // Object column -> Integer
  private final TreeMap memory = new TreeMap(); // Integer operator -> ArrayList of SQLMetric, one place in `metrics`
  private int shuffles;

  static Shape of(SparkPlan plan) throws Exception {
    Shape shape = new Shape();
    shape.names(plan);
    shape.walk(plan, -1, null);
    return shape;
  }

  String text() {
    return text.toString();
  }

  /** What the batch measured so far, -1 where the plan does not tell. */
  long[] values() {
    long[] values = new long[metrics.size()];
    for (int i = 0; i < values.length; i++) {
      AccumulatorV2 metric = (AccumulatorV2) metrics.get(i);
      values[i] = metric == null ? -1L : Math.max(0L, ((Number) metric.value()).longValue());
    }
    return values;
  }

  /** Columns that only rename others, and the two sides of a join, which are equal where it matters. */
  private void names(SparkPlan node) throws Exception {
    scala.collection.Iterator all = node.expressions().iterator();
    while (all.hasNext()) {
      Object one = all.next();
      if (one instanceof Alias && ((Alias) one).child() instanceof Attribute) {
        same.put(Long.valueOf(((Alias) one).exprId().id()), column((Expression) ((Alias) one).child()));
      }
    }
    ArrayList sides = Reflect.has(node, "stateInfo") ? sides(node) : new ArrayList();
    for (int i = 0; sides.size() == 2 && i < ((ArrayList) sides.get(0)).size(); i++) {
      Object left = column((Expression) ((ArrayList) sides.get(0)).get(i));
      Object right = column((Expression) ((ArrayList) sides.get(1)).get(i));
      if (!left.equals(right)) {
        same.put(right, left);
      }
    }
    scala.collection.Iterator children = node.children().iterator();
    while (children.hasNext()) {
      names((SparkPlan) children.next());
    }
  }

  private static Object column(Expression expression) {
    return expression instanceof Attribute
        ? (Object) Long.valueOf(((Attribute) expression).exprId().id()) : (Object) expression.toString();
  }

  /** The key columns that a stateful operator asks of each of its inputs. */
  private static ArrayList sides(SparkPlan node) throws Exception {
    ArrayList sides = new ArrayList();
    scala.collection.Iterator all = node.requiredChildDistribution().iterator();
    while (all.hasNext()) {
      Object asked = all.next();
      String name = Reflect.has(asked, "clustering") ? "clustering" : "expressions";
      ArrayList columns = new ArrayList();
      if (Reflect.has(asked, name)) {
        scala.collection.Iterator each = ((scala.collection.Seq) Reflect.call(asked, name)).iterator();
        while (each.hasNext()) {
          columns.add(each.next());
        }
      }
      sides.add(columns);
    }
    return sides;
  }

  /** `above` is the operator that this part of the plan feeds, -1 for the sink; `shuffle` the one between, or null. */
  private void walk(SparkPlan node, int above, String shuffle) throws Exception {
    Object state = Reflect.has(node, "stateInfo") ? Reflect.orNull(Reflect.call(node, "stateInfo")) : null;
    int here = above;
    String between = shuffle;
    if (state != null) {
      here = (int) Reflect.callLong(state, "operatorId");
      if (here != above || shuffle != null) {
        text.append("L\t").append(here).append('\t').append(above).append('\t');
        text.append(shuffle == null ? "" : shuffle).append('\n');
        operator(node, here, Reflect.callLong(state, "numPartitions"));
      }
      measure(node, here);
      between = null;
    } else if (node instanceof Exchange && metric(node, SHUFFLE[0]) != null) {
      between = String.valueOf(shuffles++);
      text.append("X\t").append(between).append('\t').append(above).append('\t').append(shuffle == null ? "" : shuffle);
      columns(node.outputPartitioning());
      for (int i = 0; i < SHUFFLE.length; i++) {
        metrics.add(metric(node, SHUFFLE[i]));
      }
      metrics.add(rowsBeforeSums((SparkPlan) node.children().head()));
    }
    scala.collection.Iterator children = node.children().iterator();
    while (children.hasNext()) {
      walk((SparkPlan) children.next(), here, between);
    }
  }

  private void operator(SparkPlan node, int id, long partitions) throws Exception {
    ArrayList sides = sides(node);
    text.append("O\t").append(id).append('\t').append(node.getClass().getSimpleName()).append('\t').append(partitions);
    ArrayList key = sides.isEmpty() ? new ArrayList() : (ArrayList) sides.get(0);
    for (int i = 0; i < key.size(); i++) {
      write((Expression) key.get(i));
    }
    text.append('\n');
  }

  private void columns(Object partitioning) throws Exception {
    if (Reflect.has(partitioning, "expressions")) {
      scala.collection.Iterator each = ((scala.collection.Seq) Reflect.call(partitioning, "expressions")).iterator();
      while (each.hasNext()) {
        write((Expression) each.next());
      }
    }
    text.append('\n');
  }

  private void write(Expression expression) {
    Object column = column(expression);
    for (int i = 0; same.containsKey(column) && i < 100; i++) {
      column = same.get(column);
    }
    if (!numbers.containsKey(column)) {
      numbers.put(column, Integer.valueOf(numbers.size()));
    }
    String name = expression instanceof Attribute ? ((Attribute) expression).name() : expression.toString();
    name = name.replace('\t', ' ').replace('\n', ' ');
    text.append('\t').append(numbers.get(column)).append('=').append(name.length() > 200 ? name.substring(0, 200) : name);
  }

  /** The bytes of an operator's state in memory: its node that saves tells them. */
  private void measure(SparkPlan node, int operator) {
    SQLMetric bytes = metric(node, "stateMemory");
    if (bytes != null && memory.put(Integer.valueOf(operator), bytes) == null) {
      text.append("M\t").append(operator).append('\n');
      metrics.add(bytes);
    }
  }

  private static SQLMetric metric(SparkPlan node, String name) {
    return (SQLMetric) Reflect.orNull(node.metrics().get(name));
  }

  /** Rows that sums were made of before they were shuffled; null when rows are shuffled as they are. */
  private static SQLMetric rowsBeforeSums(SparkPlan first) {
    boolean sums = false;
    SparkPlan node = first;
    while (node != null) {
      boolean aggregate = node.getClass().getSimpleName().endsWith("AggregateExec");
      SQLMetric rows = metric(node, "numOutputRows");
      if (!aggregate && rows != null) {
        return sums ? rows : null;
      }
      // An aggregate above a stateful operator's store only finishes what that one sums.
      sums = sums || aggregate;
      node = node.children().size() == 1 ? (SparkPlan) node.children().head() : null;
    }
    return null;
  }
}
