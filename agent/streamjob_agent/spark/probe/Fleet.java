package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.HealthTracker;
import org.apache.spark.scheduler.TaskScheduler;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.status.api.v1.ExecutorSummary;

/** The live executors, and which of them may be given key groups. */
final class Fleet {
  private final SparkContext context;
  private final int cpusPerTask;
  private final HashMap hosts = new HashMap();
  private final HashMap slots = new HashMap();
  private final HashSet marked = new HashSet();
  private final HashSet leaving = new HashSet();
  private HashSet excluded = new HashSet(); // Spark offers them no task for a while, as tasks have failed there

  Fleet(SparkContext context) {
    this.context = context;
    this.cpusPerTask = Math.max(1, context.getConf().getInt("spark.task.cpus", 1));
  }

  /** Executors that came before the listener did. */
  void seed() {
    scala.collection.Iterator known = context.statusStore().executorList(true).iterator();
    while (known.hasNext()) {
      ExecutorSummary executor = (ExecutorSummary) known.next();
      String address = executor.hostPort();
      int colon = address.lastIndexOf(':');
      added(executor.id(), colon < 0 ? address : address.substring(0, colon), executor.totalCores());
    }
    dropUnknown();
  }

  synchronized void added(String id, String host, int cores) {
    if (!"driver".equals(id)) {
      hosts.put(id, host);
      slots.put(id, Integer.valueOf(Math.max(1, cores / cpusPerTask)));
    }
  }

  /** It never comes back under this id. */
  synchronized void removed(String id) {
    hosts.remove(id);
    slots.remove(id);
    leaving.remove(id);
    excluded.remove(id);
  }

  synchronized void leave(String id) {
    leaving.add(id);
  }

  synchronized void mark(Collection ids) {
    marked.clear();
    marked.addAll(ids);
  }

  /** Host of a live executor that Spark offers tasks, else null. */
  synchronized String host(String id) {
    return isShut(id) ? null : (String) hosts.get(id);
  }

  private boolean isShut(Object id) {
    return leaving.contains(id) || excluded.contains(id);
  }

  /**
   * Those that are offered no task since the last call: decommissioned by whomever, of which no event tells, or excluded for a
   * while. The scheduler is asked.
   */
  List leavers() {
    HashSet now = excluded(live()); // not under our monitor: the scheduler has its own
    synchronized (this) {
      ArrayList lost = new ArrayList();
      Iterator live = hosts.keySet().iterator();
      while (live.hasNext()) {
        String id = (String) live.next();
        boolean leaves = context.taskScheduler().getExecutorDecommissionState(id).isDefined();
        if (!isShut(id) && (leaves || now.contains(id))) {
          lost.add(id);
        }
        if (leaves) {
          leaving.add(id);
        }
      }
      excluded = now;
      return lost;
    }
  }

  private synchronized Map live() {
    return new HashMap(hosts);
  }

  /** Of these, ids with hosts, whom Spark's health tracker keeps tasks from, by themselves or with all of their machine. */
  private HashSet excluded(Map live) {
    TaskScheduler scheduler = context.taskScheduler();
    boolean tracks = scheduler instanceof TaskSchedulerImpl;
    HealthTracker tracker = tracks ? (HealthTracker) Reflect.orNull(((TaskSchedulerImpl) scheduler).healthTrackerOpt()) : null;
    HashSet found = new HashSet();
    if (tracker == null) {
      return found; // unless it is told to, Spark excludes nobody
    }
    synchronized (scheduler) {
      Iterator each = live.entrySet().iterator();
      while (each.hasNext()) {
        Map.Entry one = (Map.Entry) each.next();
        if (tracker.isExecutorExcluded((String) one.getKey()) || tracker.isNodeExcluded((String) one.getValue())) {
          found.add(one.getKey());
        }
      }
    }
    return found;
  }

  /** Asks the scheduler instead of waiting for events. */
  synchronized void dropUnknown() {
    Object backend = context.schedulerBackend();
    if (backend instanceof ExecutorAllocationClient) {
      HashSet alive = new HashSet();
      scala.collection.Iterator ids = ((ExecutorAllocationClient) backend).getExecutorIds().iterator();
      while (ids.hasNext()) {
        alive.add(ids.next());
      }
      hosts.keySet().retainAll(alive);
      slots.keySet().retainAll(alive);
    }
  }

  /** Ids that may receive key groups, in order; marked ones only when nothing else is left. */
  synchronized List placeable() {
    ArrayList ids = new ArrayList(hosts.keySet());
    ids.removeAll(leaving);
    ids.removeAll(excluded);
    if (!marked.containsAll(ids)) {
      ids.removeAll(marked);
    }
    Collections.sort(ids, new ByNumber());
    return ids;
  }

  /** One line each: N, id, host, task slots, 1 where Spark offers it no task, else 0. */
  synchronized void write(StringBuilder out) {
    ArrayList ids = new ArrayList(hosts.keySet());
    Collections.sort(ids, new ByNumber());
    Iterator each = ids.iterator();
    while (each.hasNext()) {
      Object id = each.next();
      out.append("N\t").append(id).append('\t').append(hosts.get(id)).append('\t').append(slots.get(id));
      out.append(isShut(id) ? "\t1\n" : "\t0\n");
    }
  }

  /** Spark's executor ids are numbers as text: 2 comes before 10. */
  static final class ByNumber implements Comparator {
    public int compare(Object left, Object right) {
      String a = (String) left;
      String b = (String) right;
      return a.length() != b.length() ? a.length() - b.length() : a.compareTo(b);
    }
  }
}
