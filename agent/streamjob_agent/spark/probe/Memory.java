package io.streamjob.probe;

import org.apache.spark.SparkContext;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.status.api.v1.ExecutorSummary;

/** The most memory that each executor's process, and its JVM outside the heap, has used, of what its heartbeats told. */
final class Memory {
  private static final String[] JVM = {"JVMHeapMemory", "JVMOffHeapMemory"};
  private static final String[] PROCESSES = {
    "ProcessTreeJVMRSSMemory", "ProcessTreePythonRSSMemory", "ProcessTreeOtherRSSMemory"
  };

  private static final String[] POOLS = {"JVMOffHeapMemory", "DirectPoolMemory", "MappedPoolMemory"};

  private Memory() {
  }

  /** One line each: executor, bytes, bytes outside the heap. Whole processes where Spark is told to look at them, else the JVM's own pools. */
  static void write(SparkContext context, StringBuilder out) {
    scala.collection.Iterator live = context.statusStore().executorList(true).iterator();
    while (live.hasNext()) {
      ExecutorSummary executor = (ExecutorSummary) live.next();
      Object peaks = Reflect.orNull(executor.peakMemoryMetrics());
      if (peaks != null) {
        long processes = sum((ExecutorMetrics) peaks, PROCESSES);
        long bytes = processes > 0L ? processes : sum((ExecutorMetrics) peaks, JVM);
        out.append(executor.id()).append('\t').append(bytes).append('\t');
        out.append(sum((ExecutorMetrics) peaks, POOLS)).append('\n');
      }
    }
  }

  private static long sum(ExecutorMetrics peaks, String[] names) {
    long sum = 0L;
    for (int i = 0; i < names.length; i++) {
      sum += Math.max(0L, peaks.getMetricValue(names[i]));
    }
    return sum;
  }
}
