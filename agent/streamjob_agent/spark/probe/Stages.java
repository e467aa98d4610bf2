package io.streamjob.probe;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.scheduler.StageInfo;

/**
 * The stages of the batch that each query runs, and what they add up to over ended batches. A stage's level is the longest
 * way to it through stages that ran, or had no data: one that Spark skipped took no time. Jobs of a batch that run one after another
 * (foreachBatch, broadcasts) go on counting. Guarded by the meter's monitor.
 */
final class Stages {
  private static final int MOST_QUERIES = 64;
  private static final int MOST_JOBS = 1000; // that run
  private static final int MOST_STAGES = 2000; // of one batch that are counted
  private static final int MOST_SUMS = 10000; // that nobody has fetched
  private static final int MOST_FREE = 40; // of one batch without key groups that are told apart
  private static final int NONE = -1;
  private final LinkedHashMap running = new LinkedHashMap(); // query id -> Batch
  private final HashMap jobs = new HashMap(); // Integer job id -> Job
  private LinkedHashMap sums = new LinkedHashMap(); // "query operator place" -> Sum

  static final class Batch {
    final long id;
    int next; // the level at which a job begins that starts now
    final HashMap jobs = new HashMap(); // Integer stage id -> Job
    final TreeMap nodes = new TreeMap(); // Integer stage id -> Node

    Batch(long id) {
      this.id = id;
    }
  }

  static final class Job {
    Batch batch;
    int base;
    int top;
  }

  /** A stage of the running batch, all its attempts. */
  static final class Node {
    int level;
    long wallMs;
    final TreeMap parts = new TreeMap(); // Integer operator, or NONE -> long[] {run time ms, longest task ms, waiting ms}

    void ran(int operator, long ms, long waitedMs) {
      long[] part = (long[]) parts.get(Integer.valueOf(operator));
      if (part == null) {
        part = new long[3];
        parts.put(Integer.valueOf(operator), part);
      }
      part[0] += ms;
      part[1] = Math.max(part[1], ms);
      part[2] += waitedMs;
    }
  }

  static final class Sum {
    int level;
    long wallMs;
    long busyMs;
    long longestMs;
    long waitMs;

    void add(Sum other) {
      level = other.level;
      wallMs += other.wallMs;
      busyMs += other.busyMs;
      longestMs += other.longestMs;
      waitMs += other.waitMs;
    }
  }

  void jobStarted(int id, scala.collection.Seq stages, String queryId, long number) {
    Job job = new Job();
    job.batch = batch(queryId, number);
    job.base = job.batch.next;
    job.top = job.base - 1;
    if (jobs.size() >= MOST_JOBS) {
      jobs.clear(); // their ends were lost
    }
    jobs.put(Integer.valueOf(id), job);
    TreeMap byId = new TreeMap(); // what a stage reads has a lower id
    scala.collection.Iterator each = stages.iterator();
    while (each.hasNext()) {
      StageInfo info = (StageInfo) each.next();
      byId.put(Integer.valueOf(info.stageId()), info);
    }
    Iterator infos = byId.values().iterator();
    while (infos.hasNext()) {
      StageInfo info = (StageInfo) infos.next();
      Integer stage = Integer.valueOf(info.stageId());
      if (!job.batch.jobs.containsKey(stage) && job.batch.jobs.size() < MOST_STAGES) {
        job.batch.jobs.put(stage, job);
        if (info.numTasks() == 0) {
          node(job, info.stageId(), info.parentIds()); // a source without data: Spark never submits it
        }
      }
    }
  }

  void jobEnded(int id) {
    Job job = (Job) jobs.remove(Integer.valueOf(id));
    if (job != null) {
      job.batch.next = Math.max(job.batch.next, job.top + 1);
    }
  }

  /** A run of the query is over: the next one may begin with the batch that it left, by the same number. */
  void over(String queryId) {
    running.remove(queryId);
  }

  private Batch batch(String queryId, long number) {
    Batch batch = (Batch) running.get(queryId);
    if (batch == null || batch.id != number) {
      batch = new Batch(number);
      running.remove(queryId);
      running.put(queryId, batch);
      if (running.size() > MOST_QUERIES) {
        running.remove(running.keySet().iterator().next());
      }
    }
    return batch;
  }

  void submitted(Stage stage) {
    Batch batch = (Batch) running.get(stage.queryId);
    Job job = batch == null ? null : (Job) batch.jobs.get(Integer.valueOf(stage.id));
    if (job == null || batch.id != stage.batch) {
      return;
    }
    stage.node = node(job, stage.id, stage.parents);
    job.top = Math.max(job.top, stage.node.level);
  }

  private static Node node(Job job, int stage, scala.collection.Seq parents) {
    TreeMap nodes = job.batch.nodes;
    Node node = (Node) nodes.get(Integer.valueOf(stage));
    if (node == null) {
      node = new Node();
      node.level = job.base;
      scala.collection.Iterator each = parents.iterator();
      while (each.hasNext()) {
        Node parent = (Node) nodes.get(Integer.valueOf(((Number) each.next()).intValue()));
        node.level = parent == null ? node.level : Math.max(node.level, parent.level + 1);
      }
      nodes.put(Integer.valueOf(stage), node);
    }
    return node;
  }

  /** The batch has ended: what its stages took is added up by name. Gives how many names did not fit. */
  int closed(String queryId, long number) {
    Batch batch = (Batch) running.remove(queryId);
    if (batch == null || batch.id != number) {
      return 0;
    }
    int dropped = 0;
    LinkedHashMap found = new LinkedHashMap();
    HashMap free = new HashMap(); // Integer level -> Integer stages so far
    int told = 0;
    Iterator nodes = batch.nodes.values().iterator();
    while (nodes.hasNext()) {
      Node node = (Node) nodes.next();
      Iterator parts = node.parts.entrySet().iterator();
      while (parts.hasNext()) {
        Map.Entry entry = (Map.Entry) parts.next();
        int operator = ((Integer) entry.getKey()).intValue();
        String place = "";
        if (operator == NONE) {
          told++;
          place = told > MOST_FREE ? "more" : node.level + "." + turn(free, node.level);
        }
        add(found, queryId + "\t" + operator + "\t" + place, node, (long[]) entry.getValue());
      }
    }
    Iterator each = found.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      Sum sum = (Sum) sums.get(entry.getKey());
      if (sum != null) {
        sum.add((Sum) entry.getValue());
      } else if (sums.size() < MOST_SUMS) {
        sums.put(entry.getKey(), entry.getValue());
      } else {
        dropped++;
      }
    }
    return dropped;
  }

  private static int turn(HashMap free, int level) {
    Integer before = (Integer) free.get(Integer.valueOf(level));
    int turn = before == null ? 0 : before.intValue() + 1;
    free.put(Integer.valueOf(level), Integer.valueOf(turn));
    return turn;
  }

  /** A stage that runs twice in a batch (foreachBatch with two actions) is one, at the level of its first run. */
  private static void add(Map found, String key, Node node, long[] part) {
    Sum sum = (Sum) found.get(key);
    if (sum == null) {
      sum = new Sum();
      sum.level = node.level;
      found.put(key, sum);
    }
    sum.wallMs += node.wallMs;
    sum.busyMs += part[0];
    sum.longestMs += part[1];
    sum.waitMs += part[2];
  }

  /** One line each: S, query, operator or -1, place, level, then ms: wall, busy, longest, waiting for a slot. */
  void drain(StringBuilder out) {
    Iterator each = sums.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      Sum sum = (Sum) entry.getValue();
      out.append("S\t").append(entry.getKey()).append('\t').append(sum.level).append('\t').append(sum.wallMs);
      out.append('\t').append(sum.busyMs).append('\t').append(sum.longestMs);
      out.append('\t').append(sum.waitMs).append('\n');
    }
    sums = new LinkedHashMap();
  }
}
