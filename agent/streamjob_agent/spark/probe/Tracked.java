package io.streamjob.probe;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;

/** What the probe knows of one streaming query, over its restarts. Guarded by its own monitor. */
final class Tracked {
  final String id;
  UUID runId;
  private boolean later;
  String name;
  String root;
  boolean far; // the checkpoint is not on a disk of the machine
  Configuration hadoop; // with the credentials of the query's own session
  long triggerMs;
  boolean active;
  boolean adopted; // it had finished batches before the probe saw this run: its groups stay where Spark has them
  UUID hookedRun; // the run whose own session is known to have the hook
  boolean idle; // between two batches when it was last looked at
  boolean planned; // the operators come from an executed plan, not from a guess before batch 0
  List spreadOver; // the executors that the guess was spread over
  HashMap ranks; // Integer operator -> int[]: groups of one rank were together under an earlier driver; may be null
  final TreeMap operators = new TreeMap(); // Integer -> Operator
  final LinkedHashMap links = new LinkedHashMap(); // "from to" -> int[] {shuffle id, its map of partition 0}
  final Shapes shapes = new Shapes();
  final HashMap plans = new HashMap(); // Long batch id -> IncrementalExecution, not yet read
  private UUID boundRun; // the run that is known, or about to be
  private UUID begunRun; // of the batch that was planned last
  private long begun; // its number
  final TreeMap given = new TreeMap(); // "operator partition" -> executor that the probe itself chose, not reported yet

  Tracked(String id) {
    this.id = id;
  }

  Operator operator(int operator) {
    return (Operator) operators.get(Integer.valueOf(operator));
  }

  synchronized boolean knowsOperators() {
    return !operators.isEmpty();
  }

  /** The rank of the executor that held the group under an earlier driver, -1 when nobody knows. */
  int rank(Operator operator, int partition) {
    int[] row = ranks == null ? null : (int[]) ranks.get(Integer.valueOf(operator.id));
    return row != null && row.length == operator.partitions ? row[partition] : -1;
  }

  /** Executors that hold a group or should. */
  synchronized Set owners() {
    HashSet owners = new HashSet();
    Iterator each = operators.values().iterator();
    while (each.hasNext()) {
      Operator operator = (Operator) each.next();
      for (int p = 0; p < operator.partitions; p++) {
        if (operator.owner(p) != null) {
          owners.add(operator.owner(p));
        }
      }
    }
    return owners;
  }

  /** Whether a group is wanted there, or ran there last. */
  synchronized boolean has(String executor) {
    Iterator each = operators.values().iterator();
    boolean found = false;
    while (!found && each.hasNext()) {
      Operator operator = (Operator) each.next();
      for (int p = 0; p < operator.partitions; p++) {
        found |= executor.equals(operator.owner(p)) || executor.equals(operator.seen[p]);
      }
    }
    return found;
  }

  /** Notes owners that the brain did not ask for; `groups` are {Operator, partition, ...}. */
  synchronized void report(List groups) {
    for (int i = 0; i < groups.size(); i++) {
      Object[] group = (Object[]) groups.get(i);
      report((Operator) group[0], ((Integer) group[1]).intValue());
    }
  }

  synchronized void report(Operator operator, int partition) {
    given.put(operator.id + "\t" + partition, operator.owner(partition));
  }

  /** Whether `writeGiven` would tell anything. */
  synchronized boolean hasGiven() {
    return planned && !given.isEmpty();
  }

  /** One line each: W, query, operator, partition, executor; once. */
  synchronized void writeGiven(StringBuilder out) {
    Iterator each = planned ? given.entrySet().iterator() : new TreeMap().entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      out.append("W\t").append(id).append('\t').append(entry.getKey()).append('\t').append(entry.getValue()).append('\n');
      each.remove();
    }
  }

  /** Whether nobody else has taken up this run; it begins without plans and places. */
  synchronized boolean takes(UUID run, boolean first) {
    if (!first && run.equals(boundRun)) {
      return false;
    }
    boundRun = run;
    restart(run);
    return true;
  }

  /**
   * Whether the run's batch of that number begins now: it is planned for the first time. A thread that the job made in an
   * earlier batch names that one for ever, and plans within this one.
   */
  synchronized boolean begins(long batch) {
    boolean again = runId != null && runId.equals(begunRun);
    boolean first = !again || batch > begun;
    if (first) {
      later = again;
      begunRun = runId;
      begun = batch;
    }
    return first;
  }

  /** Whether the run of the batch that has begun last had begun another one before. */
  synchronized boolean later() {
    return later;
  }

  /** It could not be taken up: whoever sees it next tries again. */
  synchronized void gives() {
    boundRun = null;
  }

  /** The run is over: its places and figures stay for a restart, what is large does not. */
  synchronized void ended() {
    active = false;
    boundRun = null;
    hadoop = null;
    plans.clear();
    Iterator each = operators.values().iterator();
    while (each.hasNext()) {
      ((Operator) each.next()).forget();
    }
  }

  void forgetOwners() {
    Iterator each = operators.values().iterator();
    while (each.hasNext()) {
      Arrays.fill(((Operator) each.next()).wanted, null);
    }
  }

  private void restart(UUID run) {
    runId = run;
    plans.clear();
    links.clear();
    Iterator each = operators.values().iterator();
    while (each.hasNext()) {
      ((Operator) each.next()).restart();
    }
  }

  /** One line: Q, id, run, trigger in ms, planned, idle, operator:partitions,..., pinned operators, then the name. */
  synchronized void write(StringBuilder out) {
    out.append("Q\t").append(id).append('\t').append(runId).append('\t').append(triggerMs).append('\t');
    out.append(planned ? 1 : 0).append('\t').append(idle ? 1 : 0).append('\t');
    Iterator each = planned ? operators.values().iterator() : new TreeMap().values().iterator();
    StringBuilder pinned = new StringBuilder();
    String comma = "";
    while (each.hasNext()) {
      Operator operator = (Operator) each.next();
      out.append(comma).append(operator.id).append(':').append(operator.partitions);
      comma = ",";
      if (operator.pinned) {
        pinned.append(pinned.length() == 0 ? "" : ",").append(operator.id);
      }
    }
    out.append('\t').append(pinned).append('\t').append(name == null ? "" : name.replace('\t', ' ').replace('\n', ' ')).append('\n');
  }
}
