package io.streamjob.probe;

import org.apache.spark.executor.TaskMetrics;

/** The key groups of a query of two operators, drained as the probe does it, or by going through all of them each time. */
public final class Drains {
  private final Groups groups = new Groups();
  private final String[][] ran;

  public Drains(int partitions) {
    ran = new String[2][partitions];
  }

  /** A task of the group has ended, and its stores have told their rows. */
  public void task(int operator, int partition, String executor, long ms, long rows) {
    TaskMetrics metrics = new TaskMetrics();
    metrics.setExecutorRunTime(ms);
    Usage usage = groups.get(operator, partition);
    usage = usage == null ? groups.add(operator, partition, ran[operator].length) : usage;
    boolean moved = !executor.equals(ran[operator][partition]);
    if (usage.add(executor, metrics, new long[] {rows, -1L, -1L}, false, moved)) {
      groups.fresh(operator, partition);
    }
    ran[operator][partition] = executor;
  }

  public void close() {
    groups.close();
  }

  public long abandon() {
    return groups.abandon();
  }

  public int count() {
    return groups.count();
  }

  public String drain(boolean all) throws Exception {
    Drained out = new Drained();
    if (all) {
      groups.drainAll("q", out);
    } else {
      groups.drain("q", out);
    }
    out.text.append("F\t0\t-1\t0\t-1\n");
    return out.encoded();
  }
}
