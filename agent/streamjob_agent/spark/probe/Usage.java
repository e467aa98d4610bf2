package io.streamjob.probe;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.spark.executor.ShuffleReadMetrics;
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
  private static final double MS = 1e3;
  private static final double NS = 1e9;
  /** What Spark's stateful operators tell of a task's state after it. */
  static final String[] STATE = {"numTotalStateRows", "stateMemory", "stateOnCurrentVersionSizeBytes"};
  private final long[] open = new long[FIGURES];
  private final long[] ended = new long[FIGURES];
  private String executor; // of the newest task of all
  private String countedOn; // of the newest task of an ended batch, null before one
  private boolean fresh; // whether there is anything that no drain told
  private final long[] state = {-1L, -1L, -1L}; // of the newest task that told
  private long batches;
  // Over ended batches, of a batch's ms b and its first tasks f: the sums of b*b, b*f and f*f.
  private double squaredMs;
  private double firstMs;
  private long firstsSquared;

  /**
   * `told` are the figures of STATE, negative where a task does not tell; `moved`: its group's last one ran elsewhere. Whether
   * there is something to tell by now, and was not before.
   */
  boolean add(String ranOn, TaskMetrics metrics, long[] told, boolean first, boolean moved) {
    executor = ranOn;
    boolean news = moved && !fresh; // its figures are told once the batch has ended
    fresh |= moved;
    for (int i = 0; i < state.length; i++) {
      state[i] = told[i] >= 0L ? told[i] : state[i];
    }
    ShuffleReadMetrics read = metrics.shuffleReadMetrics();
    open[TASKS]++;
    open[FIRSTS] += first ? 1L : 0L;
    open[BUSY_MS] += metrics.executorRunTime();
    open[CPU_NS] += metrics.executorCpuTime();
    open[RECORDS] += read.recordsRead() + metrics.inputMetrics().recordsRead();
    open[LOCAL_BYTES] += read.localBytesRead();
    open[REMOTE_BYTES] += read.remoteBytesRead();
    open[GC_MS] += metrics.jvmGCTime();
    open[FETCH_MS] += read.fetchWaitTime();
    return news;
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

  /** In the order of `ROW` of Python's codec. */
  void write(int partition, Drained out) {
    ByteBuffer row = out.row();
    row.putInt(partition).putInt(out.place(executor)).putInt(out.place(countedOn));
    row.putInt((int) batches).putInt((int) ended[TASKS]).putInt((int) ended[FIRSTS]).putLong(firstsSquared);
    row.putDouble(squaredMs / (MS * MS)).putDouble(firstMs / MS);
    row.putDouble(ended[BUSY_MS] / MS).putDouble(ended[CPU_NS] / NS).putDouble(ended[GC_MS] / MS);
    row.putDouble(ended[FETCH_MS] / MS);
    row.putLong(ended[RECORDS]).putLong(ended[LOCAL_BYTES]).putLong(ended[REMOTE_BYTES]);
    row.putLong(state[0]).putLong(state[1]).putLong(state[2]);
    Arrays.fill(ended, 0L);
    batches = 0L;
    squaredMs = 0.0;
    firstMs = 0.0;
    firstsSquared = 0L;
    fresh = false;
  }
}
