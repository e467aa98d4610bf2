package io.streamjob.probe;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;

/**
 * Adds up what tasks report, per key group and per stage, until the agent drains it. Its size is bounded by the number of
 * groups. Every event, the batch's end too, comes in Spark's order, so that what is told of a batch is all of it.
 */
final class Meter {
  private static final int MOST_BATCHES = 1000;
  private static final int MOST_RUNS = 1000;
  private static final int MOST_GROUPS = 100000;
  private static final int MOST_STAGES = 512; // that have ended
  private static final int MOST_RUNNING = 2000; // stages
  private static final int MOST_SUMS = 1000; // queries, and executors
  private final Plans plans;
  private final Stages batchStages = new Stages();
  private final Intake intake = new Intake();
  private final LinkedHashMap runningStages = new LinkedHashMap(); // Long -> Stage
  private final LinkedHashMap endedStages = new LinkedHashMap(); // Long -> Stage, the newest ones
  private final HashMap groups = new HashMap(); // query id -> Groups
  private HashMap others = new HashMap(); // query id -> Long ms
  private HashMap executors = new HashMap(); // executor id -> Long ms
  private final HashMap runs = new HashMap(); // query id -> Run, until that ends
  private final ArrayDeque batches = new ArrayDeque();
  private ArrayList left = new ArrayList();
  private final long[] state = new long[Usage.STATE.length]; // of the task that is being charged
  private long failed;
  private long longestMs = -1L;
  private long longestTaskMs = -1L; // of a key group
  private long dropped;

  Meter(Plans plans) {
    this.plans = plans;
  }

  /**
   * A run of a query, as its start told. Not by what its jobs say: a job may group them as it likes, and those of a thread that
   * it made in an earlier batch name that one for ever. What comes after a batch's end is of the next one.
   */
  private static final class Run {
    final String id; // null where its start was not heard
    long batch = -1L; // the least that goes on

    Run(String id) {
      this.id = id;
    }
  }

  synchronized void started(String queryId, String run) {
    Run before = (Run) runs.get(queryId);
    if (before == null || !run.equals(before.id)) {
      know(queryId, run);
      abandon(queryId);
    }
  }

  private Run know(String queryId, String run) {
    if (runs.size() >= MOST_RUNS) {
      runs.clear(); // the ends of most were lost
    }
    Run known = new Run(run);
    runs.put(queryId, known);
    return known;
  }

  private Run run(String queryId) {
    Run known = (Run) runs.get(queryId);
    return known == null ? know(queryId, null) : known;
  }

  /** Gives the batch that the job belongs to; `named` is the one that it names. */
  synchronized long jobStarted(int job, scala.collection.Seq infos, String queryId, long named, long atMs) {
    Run run = run(queryId);
    run.batch = Math.max(run.batch, named);
    intake.started(queryId, run.batch, atMs);
    batchStages.jobStarted(job, infos, queryId, run.batch);
    return run.batch;
  }

  /** A run of a query is over: what was used for a batch that never ended is no part of the next one. */
  private void abandon(String queryId) {
    plans.forgetQuery(queryId);
    intake.over(queryId);
    batchStages.over(queryId);
    Groups ofQuery = (Groups) groups.get(queryId);
    long busyMs = ofQuery == null ? 0L : ofQuery.abandon();
    if (busyMs > 0L) {
      add(others, queryId, busyMs);
    }
  }

  /** A run has ended, perhaps in the middle of a batch: kept for its end, its key groups would take the room of others. */
  synchronized void over(String queryId, String run) {
    Run known = (Run) runs.get(queryId);
    if (known != null && (known.id == null || run.equals(known.id))) {
      runs.remove(queryId);
      abandon(queryId);
    }
  }

  synchronized void jobEnded(int job) {
    batchStages.jobEnded(job);
  }

  synchronized Stage submitted(StageInfo info, Properties properties) {
    String queryId = properties == null ? null : properties.getProperty(Hook.QUERY);
    Run run = queryId == null ? null : (Run) runs.get(queryId);
    Stage stage = new Stage(info, properties, run == null ? -1L : run.batch);
    if (stage.queryId != null) {
      batchStages.submitted(stage);
    }
    if (stage.isSource()) {
      intake.source(stage.queryId, stage.batch, 1);
    }
    put(runningStages, key(info.stageId(), info.attemptNumber()), stage, MOST_RUNNING); // the ends of some may be lost
    return stage;
  }

  private static void put(LinkedHashMap stages, Long key, Stage stage, int most) {
    stages.put(key, stage);
    if (stages.size() > most) {
      Iterator oldest = stages.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
  }

  /** Whether this stage, as it begins, tells that its batch has more rows than the one before it, by Intake.RISE. */
  synchronized boolean rises(Stage stage) {
    return stage.isFirst() && !stage.isSource() && intake.passedOn(stage.queryId, stage.batch);
  }

  private static Long key(int stage, int attempt) {
    return Long.valueOf(((long) stage << 16) | attempt);
  }

  synchronized void completed(StageInfo info, Registry registry) {
    Long key = key(info.stageId(), info.attemptNumber());
    Stage stage = (Stage) runningStages.remove(key);
    if (stage == null) {
      return;
    }
    put(endedStages, key, stage, MOST_STAGES);
    if (stage.isSource()) {
      intake.source(stage.queryId, stage.batch, -1);
    }
    stage.firstEnds = new HashMap(); // its tasks have ended, and many stages are kept
    stage.accumulators = null;
    Object from = Reflect.orNull(info.submissionTime());
    Object to = Reflect.orNull(info.completionTime());
    long tookMs = from == null || to == null ? 0L : ((Number) to).longValue() - ((Number) from).longValue();
    long wallMs = Math.max(0L, tookMs); // below zero where the machine's clock was set back, and no counter may fall
    if (stage.node != null) {
      stage.node.wallMs += wallMs;
    }
    if (!stage.firstTasks.isEmpty()) {
      longestMs = Math.max(longestMs, wallMs);
    }
    Tracked query = stage.queryId == null ? null : registry.get(stage.queryId);
    if (query != null && stage.firstTasks.size() == 1) {
      link(query, stage);
    }
  }

  /** Notes the shuffle between this stage's operator and those of the stages it read. */
  private void link(Tracked query, Stage stage) {
    Iterator each = endedStages.values().iterator();
    while (each.hasNext()) {
      Stage parent = (Stage) each.next();
      if (parent.shuffle >= 0 && !parent.firstTasks.isEmpty() && stage.reads(parent)) {
        Iterator operators = parent.firstTasks.entrySet().iterator();
        while (operators.hasNext()) {
          Map.Entry entry = (Map.Entry) operators.next();
          int[] where = new int[] {parent.shuffle, ((Integer) entry.getValue()).intValue()};
          synchronized (query) {
            query.links.put(entry.getKey() + " " + stage.firstTasks.firstKey(), where);
          }
        }
      }
    }
  }

  /** Key groups whose task has ended where they are not wanted any more, since the last call; see Registrar.left. */
  synchronized List left() {
    if (left.isEmpty()) {
      return Collections.EMPTY_LIST; // as after nearly every task
    }
    List groups = left;
    left = new ArrayList();
    return groups;
  }

  synchronized void ended(SparkListenerTaskEnd event) {
    TaskInfo task = event.taskInfo();
    TaskMetrics metrics = event.taskMetrics();
    long busyMs = metrics == null ? 0L : metrics.executorRunTime();
    add(executors, task.executorId(), busyMs);
    failed += task.failed() ? 1 : 0;
    Long key = key(event.stageId(), event.stageAttemptId());
    Stage running = (Stage) runningStages.get(key);
    Stage stage = running == null ? (Stage) endedStages.get(key) : running; // a task may outlive a stage that failed
    if (stage == null || stage.queryId == null) {
      return;
    }
    if (!task.successful() || metrics == null) {
      add(others, stage.queryId, busyMs);
      return;
    }
    if (stage.isFirst()) { // what is done again was read before
      intake.read(stage.queryId, stage.batch, metrics.inputMetrics().recordsRead());
    }
    int operator = charge(stage, task, metrics);
    if (operator < 0) {
      add(others, stage.queryId, busyMs);
    } else {
      longestTaskMs = Math.max(longestTaskMs, busyMs);
    }
    if (stage.node != null) {
      stage.node.ran(operator, busyMs, stage.waited(task));
    }
  }

  /** Events of which nobody could be told. */
  synchronized void lost(long events) {
    dropped += events;
  }

  void add(HashMap sums, String key, long value) {
    Long before = (Long) sums.get(key);
    if (before == null && sums.size() >= MOST_SUMS) {
      dropped++; // nobody has fetched them for long
      return;
    }
    sums.put(key, Long.valueOf(value + (before == null ? 0L : before.longValue())));
  }

  /** The operator whose key group the task is, -1 when it belongs to none. */
  private int charge(Stage stage, TaskInfo task, TaskMetrics metrics) {
    Plans.Metric named = named(stage, task);
    if (named == null) {
      return -1;
    }
    int partition;
    int partitions;
    boolean moved;
    String executor = task.executorId();
    synchronized (named.query) {
      Operator operator = named.query.operator(named.operator);
      partitions = operator == null ? 0 : operator.partitions;
      partition = operator == null ? -1 : stage.partition(task.partitionId(), partitions);
      if (partition < 0) {
        return -1; // a coalesced stage: its tasks hold several key groups each
      }
      moved = !executor.equals(operator.seen[partition]);
      if (operator.keeps(partition, executor)) {
        named.query.report(operator, partition);
      }
      if (operator.saw(partition, executor, metrics.executorRunTime())) {
        left.add(new Object[] {named.query, operator, Integer.valueOf(partition), Long.valueOf(stage.batch + 1L)});
      }
    }
    stage.starts(named.operator, task.partitionId() - partition);
    Groups ofQuery = groups(named.query.id);
    Usage usage = usage(ofQuery, named.operator, partition, partitions);
    boolean first = isFirst(stage, task, metrics);
    if (usage != null && usage.add(executor, metrics, state, first, moved)) {
      ofQuery.fresh(named.operator, partition);
    }
    return named.operator;
  }

  /** Any of the task's accumulators that belong to an operator, null when none does; `state` gets what they tell of it. */
  private Plans.Metric named(Stage stage, TaskInfo task) {
    if (stage.accumulators == null) {
      stage.accumulators = plans.accumulators(stage.queryId, stage.batch);
    }
    Plans.Metric named = null;
    if (stage.accumulators != null) {
      Arrays.fill(state, -1L);
      scala.collection.Iterator all = task.accumulables().iterator();
      while (all.hasNext()) {
        AccumulableInfo info = (AccumulableInfo) all.next();
        Plans.Metric metric = stage.accumulators.get(info.id());
        if (metric != null) {
          named = metric;
          if (metric.figure >= 0) {
            state[metric.figure] = Math.max(0L, state[metric.figure]) + number(Reflect.orNull(info.update()));
          }
        }
      }
    }
    return named;
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

  private Groups groups(String queryId) {
    Groups ofQuery = (Groups) groups.get(queryId);
    if (ofQuery == null) {
      ofQuery = new Groups();
      groups.put(queryId, ofQuery);
    }
    return ofQuery;
  }

  private Usage usage(Groups ofQuery, int operator, int partition, int partitions) {
    Usage usage = ofQuery.get(operator, partition);
    if (usage == null && groupCount() >= MOST_GROUPS) {
      dropped++;
      return null;
    }
    return usage == null ? ofQuery.add(operator, partition, partitions) : usage;
  }

  private int groupCount() {
    int count = 0;
    Iterator each = groups.values().iterator();
    while (each.hasNext()) {
      count += ((Groups) each.next()).count();
    }
    return count;
  }

  private static long number(Object value) {
    return value instanceof Number ? ((Number) value).longValue() : 0L;
  }

  /** A batch of so many rows has ended, and all its tasks before it; `line` says how it went, `ran` whether there was one. */
  synchronized void batch(String queryId, long number, long rows, String line, boolean ran) {
    if (ran) {
      Run run = run(queryId);
      run.batch = Math.max(run.batch, number + 1L);
    }
    dropped += batchStages.closed(queryId, number);
    intake.closed(queryId, number, rows);
    Groups ofQuery = (Groups) groups.get(queryId);
    if (ofQuery != null) {
      ofQuery.close();
    }
    batches.add(line);
    if (batches.size() > MOST_BATCHES) {
      batches.poll();
      dropped++;
    }
  }

  /** Everything since the last call, and starts anew. */
  synchronized void drain(Drained out) {
    Iterator queries = groups.entrySet().iterator();
    while (queries.hasNext()) {
      Map.Entry query = (Map.Entry) queries.next();
      ((Groups) query.getValue()).drain((String) query.getKey(), out);
      if (((Groups) query.getValue()).count() == 0) {
        queries.remove();
      }
    }
    batchStages.drain(out.text);
    intake.drain(out.text);
    sums(out.text, 'O', others);
    sums(out.text, 'E', executors);
    while (!batches.isEmpty()) {
      out.text.append(batches.poll()).append('\n');
    }
    out.text.append("F\t").append(failed).append("\t").append(longestMs).append('\t').append(dropped);
    out.text.append('\t').append(longestTaskMs).append('\n');
    others = new HashMap();
    executors = new HashMap();
    failed = 0L;
    longestMs = -1L;
    longestTaskMs = -1L;
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
