package io.streamjob.probe;

import java.util.HashMap;
import org.apache.spark.SparkContext;

/**
 * How long the scheduler waits for a task's own executor. Spark reads it for each set of tasks, from one setting for the whole
 * driver: it is set while a batch of a query with state runs, and taken back after it; sets of tasks without state get the
 * wait back that they have without us. The job's own value is never touched.
 */
final class LocalityWait {
  private static final String KEY = "spark.locality.wait.process";
  private static final long FIRST_MS = 30000L; // until a stage was measured
  private final SparkContext context;
  private final boolean own;
  private final OtherWaits others;
  private final HashMap batches = new HashMap(); // query id -> run and batch under way
  private long ms = FIRST_MS;

  LocalityWait(SparkContext context, OtherWaits others) {
    this.context = context;
    this.own = context.conf().contains(KEY);
    this.others = others;
  }

  /** False when the job has a value of its own. */
  synchronized boolean tune(long millis) {
    ms = millis;
    apply();
    return !own;
  }

  synchronized void begin(String queryId, String runAndBatch) {
    boolean before = isSet();
    batches.put(queryId, runAndBatch);
    apply();
    if (!before && isSet()) {
      others.again(); // stages that were submitted just now may have their tasks made with the long wait
    }
  }

  /** `prefix` is the run, or run and batch: news of an older batch comes late at times. */
  synchronized void end(String queryId, String prefix) {
    String current = (String) batches.get(queryId);
    if (current != null && (current + " ").startsWith(prefix + " ")) {
      batches.remove(queryId);
      apply();
    }
  }

  /** The query does not run, whatever was heard of its end: Spark drops news when there are too many. */
  synchronized void over(String queryId) {
    if (batches.remove(queryId) != null) {
      apply();
    }
  }

  /** A stage was submitted. */
  synchronized void submitted(Stage stage) {
    if (!stage.ours) {
      others.begin(stage, isSet());
    }
  }

  void completed(int stage, int attempt) {
    others.end(stage, attempt);
  }

  /** Executors came or went: Spark reads the setting once more for every set of tasks that runs. */
  synchronized void fleetChanged() {
    if (isSet()) {
      others.again();
    }
  }

  /** An executor that had key groups is gone, going, or offered no task: nobody waits for it for longer than without us. */
  synchronized void lost() {
    if (isSet()) {
      others.bereave();
    }
  }

  /** A task has failed: Spark may not give its executor another try, and nobody waits for that. */
  synchronized void failed(int stage, int attempt) {
    if (isSet()) {
      others.failed(stage, attempt);
    }
  }

  synchronized void close() {
    batches.clear();
    apply();
  }

  private boolean isSet() {
    return !own && !batches.isEmpty();
  }

  private void apply() {
    if (own) {
      return;
    }
    if (batches.isEmpty()) {
      context.conf().remove(KEY);
    } else {
      context.conf().set(KEY, ms + "ms");
    }
  }
}
