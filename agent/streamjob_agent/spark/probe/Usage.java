package io.streamjob.probe;

import java.util.Arrays;
import org.apache.spark.executor.TaskMetrics;

/** What one key group's tasks took: in the batch that runs, and in the batches that ended since the last drain. */
final class Usage {
  private static final int TASKS = 0;
  private static final int FIRSTS = 1; // of the tasks, those that were the first on their slot in their stage
  private static final int BUSY_MS = 2;
  private static final int CPU_NS = 3;
  private static final int RECORDS = 4;
  private static final int LOCAL_BYTES = 5;
  private static final int REMOTE_BYTES = 6;
  private static final int GC_MS = 7; // that the executor stood still to collect garbage while they ran
  private static final int FETCH_MS = 8; // that they waited for shuffle blocks of other executors
  private static final int FIGURES = 9;
  /** What Spark's stateful operators tell of a task's state after it. */
  static final String[] STATE = {"numTotalStateRows", "stateMemory", "stateOnCurrentVersionSizeBytes"};
  private final long[] open = new long[FIGURES];
  private final long[] ended = new long[FIGURES];
  private String executor; // of the newest task of all
  private String countedOn = ""; // of the newest task of an ended batch
  private boolean fresh; // whether there is anything that the last drain did not tell
  private final long[] state = untold(); // of the newest task that told
  private long batches;
  // Over ended batches, of a batch's ms b and its first tasks f: the sums of b*b, b*f and f*f.
  private double squaredMs;
  private double firstMs;
  private long firstsSquared;

  static long[] untold() {
    long[] state = new long[STATE.length];
    Arrays.fill(state, -1L);
    return state;
  }

  void add(String ranOn, TaskMetrics metrics, long[] told, boolean first) {
    executor = ranOn;
    fresh = true;
    for (int i = 0; i < STATE.length; i++) {
      state[i] = told[i] >= 0L ? told[i] : state[i];
    }
    open[TASKS]++;
    open[FIRSTS] += first ? 1L : 0L;
    open[BUSY_MS] += metrics.executorRunTime();
    open[CPU_NS] += metrics.executorCpuTime();
    open[RECORDS] += metrics.shuffleReadMetrics().recordsRead() + metrics.inputMetrics().recordsRead();
    open[LOCAL_BYTES] += metrics.shuffleReadMetrics().localBytesRead();
    open[REMOTE_BYTES] += metrics.shuffleReadMetrics().remoteBytesRead();
    open[GC_MS] += metrics.jvmGCTime();
    open[FETCH_MS] += metrics.shuffleReadMetrics().fetchWaitTime();
  }

  void close() {
    if (open[TASKS] == 0L) {
      return;
    }
    batches++;
    countedOn = executor;
    fresh = true;
    squaredMs += (double) open[BUSY_MS] * open[BUSY_MS];
    firstMs += (double) open[BUSY_MS] * open[FIRSTS];
    firstsSquared += open[FIRSTS] * open[FIRSTS];
    for (int i = 0; i < FIGURES; i++) {
      ended[i] += open[i];
    }
    Arrays.fill(open, 0L);
  }

  /** Forgets the batch that runs; the milliseconds that it has taken so far. */
  long abandon() {
    long busyMs = open[BUSY_MS];
    Arrays.fill(open, 0L);
    return busyMs;
  }

  boolean isFresh() {
    return fresh;
  }

  boolean isOpen() {
    return open[TASKS] > 0L;
  }

  void write(StringBuilder out) {
    out.append(executor).append('\t').append(countedOn).append('\t').append(batches);
    for (int i = 0; i < FIGURES; i++) {
      out.append('\t').append(ended[i]);
    }
    for (int i = 0; i < STATE.length; i++) {
      out.append('\t').append(state[i]);
    }
    out.append('\t').append(squaredMs).append('\t').append(firstMs);
    out.append('\t').append(firstsSquared).append('\n');
    Arrays.fill(ended, 0L);
    batches = 0L;
    squaredMs = 0.0;
    firstMs = 0.0;
    firstsSquared = 0L;
    fresh = false;
  }
}
