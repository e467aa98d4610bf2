package io.streamjob.probe;

/**
 * The batch that a query has planned and of which nothing has begun. Spark writes a plan into the query's log before it runs
 * anything of the batch.
 */
final class Planned {
  final Object execution;
  private final String number; // null where nobody tells
  private final boolean later;

  /** `later`: this run has begun another batch before; of a run's first batch an earlier run may have begun something. */
  Planned(Object execution, String number, boolean later) {
    this.execution = execution;
    this.number = number;
    this.later = later;
  }

  /**
   * The query is stopped: its plan leaves the log again, so that the newest batch of the checkpoint is a finished one. A
   * driver that died before it had written the plan leaves the same, and sources are asked for the rows again.
   */
  void takeBack() throws Exception {
    if (!later || number == null) {
      return;
    }
    long batch = Long.parseLong(number);
    Object plans = Reflect.call(execution, "offsetLog");
    if (newest(plans) == batch && newest(Reflect.call(execution, "commitLog")) == batch - 1L) {
      Class[] types = new Class[] {Long.TYPE};
      plans.getClass().getMethod("purgeAfter", types).invoke(plans, new Object[] {Long.valueOf(batch - 1L)});
    }
  }

  private static long newest(Object log) throws Exception {
    Object found = Reflect.orNull(Reflect.call(log, "getLatestBatchId"));
    return found == null ? -1L : ((Number) found).longValue();
  }
}
