package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.status.api.v1.ExecutorSummary;

/** The live executors, and which of them may be given key groups. */
final class Fleet {
  private final SparkContext context;
  private final int cpusPerTask;
  private final HashMap hosts = new HashMap();
  private final HashMap slots = new HashMap();
  private final HashSet marked = new HashSet();
  private final HashSet leaving = new HashSet();

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
  }

  synchronized void leave(String id) {
    leaving.add(id);
  }

  synchronized void mark(Collection ids) {
    marked.clear();
    marked.addAll(ids);
  }

  /** Host of a live executor that is not leaving, else null. */
  synchronized String host(String id) {
    return leaving.contains(id) ? null : (String) hosts.get(id);
  }

  /** Those that were decommissioned since the last call, by whomever: no event tells of it, the scheduler is asked. */
  synchronized List leavers() {
    ArrayList lost = new ArrayList();
    ArrayList live = new ArrayList(hosts.keySet());
    for (int i = 0; i < live.size(); i++) {
      String id = (String) live.get(i);
      if (!leaving.contains(id) && context.taskScheduler().getExecutorDecommissionState(id).isDefined()) {
        leaving.add(id);
        lost.add(id);
      }
    }
    return lost;
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
    if (!marked.containsAll(ids)) {
      ids.removeAll(marked);
    }
    Collections.sort(ids, new ByNumber());
    return ids;
  }

  /** One line each: N, id, host, task slots, 1 where it is leaving, else 0. */
  synchronized void write(StringBuilder out) {
    ArrayList ids = new ArrayList(hosts.keySet());
    Collections.sort(ids, new ByNumber());
    Iterator each = ids.iterator();
    while (each.hasNext()) {
      Object id = each.next();
      out.append("N\t").append(id).append('\t').append(hosts.get(id)).append('\t').append(slots.get(id));
      out.append(leaving.contains(id) ? "\t1\n" : "\t0\n");
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
