package io.streamjob.bench;

import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Makes every task wait in its slot for each record that it fetched of a shuffle, as one does that asks somebody about each of its rows:
 * executors that mostly wait, of which more fit on a machine than it has cores. The wait is part of the task's run time.
 */
public final class Waits implements SparkPlugin {
  static final String SETTING = "spark.streamjob.bench.waitNanosPerRecord";

  public DriverPlugin driverPlugin() {
    return null;
  }

  public ExecutorPlugin executorPlugin() {
    return new Tasks();
  }

  private static final class Tasks implements ExecutorPlugin {
    private long nanosPerRecord;

    public void init(PluginContext context, Map extra) {
      nanosPerRecord = context.conf().getLong(SETTING, 0L);
    }

    public void onTaskStart() {
      final long nanos = nanosPerRecord;
      TaskContext.get().addTaskCompletionListener(new TaskCompletionListener() {
        public void onTaskCompletion(TaskContext task) {
          waitFor(nanos * task.taskMetrics().shuffleReadMetrics().recordsRead());
        }
      });
    }
  }

  private static void waitFor(long nanos) {
    try {
      Thread.sleep(nanos / 1000000L, (int) (nanos % 1000000L));
    } catch (InterruptedException e) { // the task is killed, it need not wait any more
      Thread.currentThread().interrupt();
    }
  }
}
