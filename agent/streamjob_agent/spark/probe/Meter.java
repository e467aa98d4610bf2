package io.streamjob.probe;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.storage.RDDInfo;

/** Adds up what tasks report, per key group, until the agent drains it. Its size is bounded by the number of groups. */
final class Meter {
  private static final int MOST_BATCHES = 1000;
  private static final int MOST_GROUPS = 100000;
  private final Plans plans;
  private final LinkedHashMap stages = new LinkedHashMap(); // Long -> Stage, the newest 512
  private HashMap groups = new HashMap(); // String query + operator + partition -> Usage
  private HashMap others = new HashMap(); // query id -> Long ms
  private HashMap executors = new HashMap(); // executor id -> Long ms
  private final ArrayDeque batches = new ArrayDeque();
  private long failed;
  private long longestMs = -1L;
  private long dropped;

  static final class Stage {
    String queryId;
    int width;
    int shuffle = -1;
    int operator = -1; // of its first task that named one
    int operators; // how many different ones its tasks named, up to 2
    scala.collection.Seq parents;
    HashMap firstEnds = new HashMap(); // executor id -> Long ms, before which its first task did not end
    int id;
  }

  static final class Usage {
    String executor;
    long tasks;
    long firsts; // of the tasks, those that were the first on their slot in their stage
    long busyMs;
    long cpuNs;
    long records;
    long localBytes;
    long remoteBytes;
    long rows = -1L;
  }

  Meter(Plans plans) {
    this.plans = plans;
  }

  synchronized void submitted(StageInfo info, Properties properties) {
    Stage stage = new Stage();
    stage.id = info.stageId();
    stage.queryId = properties == null ? null : properties.getProperty(Hook.QUERY);
    stage.parents = info.parentIds();
    Object shuffle = Reflect.orNull(info.shuffleDepId());
    stage.shuffle = shuffle == null ? -1 : ((Number) shuffle).intValue();
    scala.collection.Iterator rdds = info.rddInfos().iterator();
    stage.width = rdds.hasNext() ? ((RDDInfo) rdds.next()).numPartitions() : info.numTasks();
    stages.put(key(info.stageId(), info.attemptNumber()), stage);
    if (stages.size() > 512) {
      Iterator oldest = stages.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
  }

  private static Long key(int stage, int attempt) {
    return Long.valueOf(((long) stage << 16) | attempt);
  }

  synchronized void completed(StageInfo info, Registry registry) {
    Stage stage = (Stage) stages.get(key(info.stageId(), info.attemptNumber()));
    if (stage == null || stage.operator < 0) {
      return;
    }
    stage.firstEnds = new HashMap(); // its tasks have ended, and 512 stages are kept
    Object from = Reflect.orNull(info.submissionTime());
    Object to = Reflect.orNull(info.completionTime());
    if (from != null && to != null) {
      longestMs = Math.max(longestMs, ((Number) to).longValue() - ((Number) from).longValue());
    }
    Tracked query = registry.get(stage.queryId);
    if (query != null && stage.operators == 1) {
      link(query, stage);
    }
  }

  /** Notes the shuffle between this stage's operator and those of the stages it read. */
  private void link(Tracked query, Stage stage) {
    Iterator each = stages.values().iterator();
    while (each.hasNext()) {
      Stage parent = (Stage) each.next();
      if (parent.operators == 1 && parent.shuffle >= 0 && isParent(stage, parent.id)) {
        synchronized (query) {
          query.links.put(parent.operator + " " + stage.operator, Integer.valueOf(parent.shuffle));
        }
      }
    }
  }

  private static boolean isParent(Stage stage, int id) {
    scala.collection.Iterator parents = stage.parents.iterator();
    while (parents.hasNext()) {
      if (((Number) parents.next()).intValue() == id) {
        return true;
      }
    }
    return false;
  }

  synchronized void ended(SparkListenerTaskEnd event) {
    TaskInfo task = event.taskInfo();
    TaskMetrics metrics = event.taskMetrics();
    long busyMs = metrics == null ? 0L : metrics.executorRunTime();
    add(executors, task.executorId(), busyMs);
    failed += task.failed() ? 1 : 0;
    Stage stage = (Stage) stages.get(key(event.stageId(), event.stageAttemptId()));
    if (stage == null || stage.queryId == null) {
      return;
    }
    if (!task.successful() || metrics == null || !charge(stage, task, metrics)) {
      add(others, stage.queryId, busyMs);
    }
  }

  private static void add(HashMap sums, String key, long value) {
    Long before = (Long) sums.get(key);
    sums.put(key, Long.valueOf(value + (before == null ? 0L : before.longValue())));
  }

  /** False when the task belongs to no key group. */
  private boolean charge(Stage stage, TaskInfo task, TaskMetrics metrics) {
    long rows = -1L;
    Plans.Metric named = null;
    scala.collection.Iterator all = task.accumulables().iterator();
    while (all.hasNext()) {
      AccumulableInfo info = (AccumulableInfo) all.next();
      Plans.Metric metric = plans.metric(info.id());
      if (metric != null) {
        named = metric;
        rows = metric.rows ? Math.max(0L, rows) + number(Reflect.orNull(info.update())) : rows;
      }
    }
    if (named == null) {
      return false;
    }
    stage.operators += stage.operator < 0 ? 1 : (stage.operator == named.operator ? 0 : 1);
    stage.operator = named.operator;
    Operator operator;
    int partition;
    synchronized (named.query) {
      operator = named.query.operator(named.operator);
      if (operator == null || stage.width % operator.partitions != 0) {
        return false; // a coalesced stage: its tasks hold several key groups each
      }
      // A union of operators of the same width is one stage with several times as many tasks.
      partition = task.partitionId() % operator.partitions;
      operator.saw(partition, task.executorId(), metrics.executorRunTime());
    }
    return charge(named, partition, task, metrics, rows, isFirst(stage, task, metrics));
  }

  /**
   * Whether no task of the stage had ended on the executor when this one was launched. Not by finishTime: the driver notes
   * it on another thread than the one that launches the next task, and so after that launch at times.
   */
  private static boolean isFirst(Stage stage, TaskInfo task, TaskMetrics metrics) {
    Long ended = (Long) stage.firstEnds.get(task.executorId());
    if (ended == null) {
      stage.firstEnds.put(task.executorId(), Long.valueOf(task.launchTime() + metrics.executorRunTime()));
      return true;
    }
    return task.launchTime() < ended.longValue();
  }

  private boolean charge(Plans.Metric named, int partition, TaskInfo task, TaskMetrics metrics, long rows,
      boolean first) {
    String key = named.query.id + "\t" + named.operator + "\t" + partition;
    Usage usage = (Usage) groups.get(key);
    if (usage == null) {
      if (groups.size() >= MOST_GROUPS) {
        dropped++;
        return true;
      }
      usage = new Usage();
      groups.put(key, usage);
    }
    usage.executor = task.executorId();
    usage.tasks++;
    usage.firsts += first ? 1L : 0L;
    usage.busyMs += metrics.executorRunTime();
    usage.cpuNs += metrics.executorCpuTime();
    usage.records += metrics.shuffleReadMetrics().recordsRead() + metrics.inputMetrics().recordsRead();
    usage.localBytes += metrics.shuffleReadMetrics().localBytesRead();
    usage.remoteBytes += metrics.shuffleReadMetrics().remoteBytesRead();
    usage.rows = rows >= 0L ? rows : usage.rows;
    return true;
  }

  private static long number(Object value) {
    return value instanceof Number ? ((Number) value).longValue() : 0L;
  }

  synchronized void batch(long nowMs, String json) {
    batches.add("B\t" + nowMs + "\t" + json.replace('\n', ' '));
    if (batches.size() > MOST_BATCHES) {
      batches.poll();
      dropped++;
    }
  }

  /** Everything since the last call, and starts anew. */
  synchronized void drain(StringBuilder out) {
    Iterator each = groups.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      Usage u = (Usage) entry.getValue();
      out.append("G\t").append(entry.getKey()).append('\t').append(u.executor).append('\t').append(u.tasks);
      out.append('\t').append(u.busyMs).append('\t').append(u.cpuNs).append('\t').append(u.records);
      out.append('\t').append(u.localBytes).append('\t').append(u.remoteBytes).append('\t').append(u.rows);
      out.append('\t').append(u.firsts).append('\n');
    }
    sums(out, 'O', others);
    sums(out, 'E', executors);
    while (!batches.isEmpty()) {
      out.append(batches.poll()).append('\n');
    }
    out.append("F\t").append(failed).append("\t").append(longestMs).append('\t').append(dropped).append('\n');
    groups = new HashMap();
    others = new HashMap();
    executors = new HashMap();
    failed = 0L;
    longestMs = -1L;
    dropped = 0L;
  }

  private static void sums(StringBuilder out, char kind, HashMap sums) {
    Iterator each = sums.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      out.append(kind).append('\t').append(entry.getKey()).append('\t').append(entry.getValue()).append('\n');
    }
  }
}
