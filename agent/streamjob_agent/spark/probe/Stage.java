package io.streamjob.probe;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.storage.RDDInfo;

/** One attempt at a stage. A union of inputs is one stage whose tasks are those of one input after those of another. */
final class Stage {
  private static final int DEEPEST = 32;
  final int id;
  final int attempt;
  final boolean stateful; // its tasks open stores of state
  final boolean ours; // it opens stores ahead
  final String queryId;
  final long batch;
  final int shuffle;
  private final long submittedMs; // 0 where Spark does not tell
  final scala.collection.Seq parents;
  final TreeMap firstTasks = new TreeMap(); // Integer operator -> Integer: the stage's task that is its partition 0
  HashMap firstEnds = new HashMap(); // executor id -> Long ms, before which its first task did not end
  Stages.Node node; // null where nobody counts it
  Accumulators accumulators; // of its batch's plan, null until a task has asked
  private final int[] cuts; // the first task of each input, then the number of tasks

  /** `least`: the batch that goes on, if one that was before it is named. */
  Stage(StageInfo info, Properties properties, long least) {
    id = info.stageId();
    attempt = info.attemptNumber();
    stateful = stateful(info);
    ours = properties != null && properties.getProperty(Ahead.OURS) != null;
    queryId = properties == null ? null : properties.getProperty(Hook.QUERY);
    String number = properties == null ? null : properties.getProperty(Hook.BATCH);
    batch = number == null ? -1L : Math.max(least, Long.parseLong(number));
    parents = info.parentIds();
    Object from = Reflect.orNull(info.submissionTime());
    submittedMs = from == null ? 0L : ((Number) from).longValue();
    Object written = Reflect.orNull(info.shuffleDepId());
    shuffle = written == null ? -1 : ((Number) written).intValue();
    cuts = cuts(info);
  }

  /** Known before its tasks are made: by what Spark calls the RDDs that open stores. */
  private static boolean stateful(StageInfo info) {
    scala.collection.Iterator all = info.rddInfos().iterator();
    while (all.hasNext()) {
      if (((RDDInfo) all.next()).name().indexOf("StateStore") >= 0) {
        return true;
      }
    }
    return false;
  }

  /** Notes which of its tasks is an operator's partition 0. */
  void starts(int operator, int task) {
    Integer name = Integer.valueOf(operator);
    if (!firstTasks.containsKey(name)) {
      firstTasks.put(name, Integer.valueOf(task));
    }
  }

  /** Ms from the stage's submission to the launch of one of its tasks: for want of a slot, or of the right executor. */
  long waited(TaskInfo task) {
    return submittedMs == 0L ? 0L : Math.max(0L, task.launchTime() - submittedMs);
  }

  /** Whether this is the first attempt at what a query's batch does. */
  boolean isFirst() {
    return queryId != null && attempt == 0;
  }

  /** Whether it reads sources of the query alone, for the first time. */
  boolean isSource() {
    return isFirst() && parents.isEmpty();
  }

  /** The key group's partition that a task is, -1 where a task is not one partition of that many. */
  int partition(int task, int partitions) {
    for (int i = 0; i + 1 < cuts.length; i++) {
      if (task < cuts[i + 1]) {
        return cuts[i + 1] - cuts[i] == partitions ? task - cuts[i] : -1;
      }
    }
    return -1;
  }

  boolean reads(Stage other) {
    scala.collection.Iterator each = parents.iterator();
    while (each.hasNext()) {
      if (((Number) each.next()).intValue() == other.id) {
        return true;
      }
    }
    return false;
  }

  private static int[] cuts(StageInfo info) {
    HashMap known = new HashMap();
    RDDInfo last = null;
    scala.collection.Iterator all = info.rddInfos().iterator();
    while (all.hasNext()) {
      RDDInfo rdd = (RDDInfo) all.next();
      last = last == null ? rdd : last; // the first one is the stage's own
      known.put(Integer.valueOf(rdd.id()), rdd);
    }
    ArrayList starts = new ArrayList();
    if (last != null) {
      cut(last, 0, known, starts, 0);
    }
    int[] cuts = new int[starts.size() + 1];
    for (int i = 0; i < starts.size(); i++) {
      cuts[i] = ((Integer) starts.get(i)).intValue();
    }
    cuts[starts.size()] = last == null ? info.numTasks() : last.numPartitions();
    return cuts;
  }

  /** Goes down to the union, if there is one: an RDD that has as many partitions as its inputs together. */
  private static void cut(RDDInfo from, int first, HashMap known, ArrayList starts, int depth) {
    RDDInfo rdd = from;
    ArrayList inputs = inputs(rdd, known);
    while (inputs.size() == 1 && ((RDDInfo) inputs.get(0)).numPartitions() == rdd.numPartitions()) {
      rdd = (RDDInfo) inputs.get(0);
      inputs = inputs(rdd, known);
    }
    int together = 0;
    for (int i = 0; i < inputs.size(); i++) {
      together += ((RDDInfo) inputs.get(i)).numPartitions();
    }
    if (inputs.size() < 2 || together != rdd.numPartitions() || depth >= DEEPEST) {
      starts.add(Integer.valueOf(first));
      return;
    }
    int next = first;
    for (int i = 0; i < inputs.size(); i++) {
      cut((RDDInfo) inputs.get(i), next, known, starts, depth + 1);
      next += ((RDDInfo) inputs.get(i)).numPartitions();
    }
  }

  /** What an RDD reads within its stage. */
  private static ArrayList inputs(RDDInfo rdd, HashMap known) {
    ArrayList inputs = new ArrayList();
    scala.collection.Iterator each = rdd.parentIds().iterator();
    while (each.hasNext()) {
      Object input = known.get(Integer.valueOf(((Number) each.next()).intValue()));
      if (input != null) {
        inputs.add(input);
      }
    }
    return inputs;
  }
}
