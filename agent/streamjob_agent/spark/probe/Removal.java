package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import scala.None$;
import scala.collection.JavaConverters$;

/**
 * Takes executors away. One that knows how to leave is decommissioned. With spark.decommission.enabled=false, Spark's
 * default, it would only log that it does not know, and stay without work for ever: it is killed in a moment without tasks.
 */
final class Removal {
  private static final long PATIENCE_MS = 200L;
  private final SparkContext context;
  private final Fleet fleet;
  private final Registrar registrar;
  private final Faults faults;
  private final HashSet busy = new HashSet(); // to be killed once they run no task
  private final AtomicBoolean killing = new AtomicBoolean(); // a thread is at it

  Removal(SparkContext context, Fleet fleet, Registrar registrar, Faults faults) {
    this.context = context;
    this.fleet = fleet;
    this.registrar = registrar;
    this.faults = faults;
  }

  /** Its groups are given away first, so that nothing new starts on it. */
  boolean remove(String id) {
    fleet.leave(id);
    registrar.guard(id);
    if (context.conf().getBoolean("spark.decommission.enabled", false)) {
      ExecutorDecommissionInfo why =
          new ExecutorDecommissionInfo("scaled in by StreamJob", (scala.Option) None$.MODULE$);
      return backend().decommissionExecutor(id, why, true, false);
    }
    synchronized (busy) {
      busy.add(id);
    }
    kill();
    return true;
  }

  /** Between two batches of a query, when its tasks are done: those that were busy may be idle now. */
  void boundary() throws InterruptedException {
    synchronized (busy) {
      if (busy.isEmpty()) {
        return;
      }
    }
    if (killing.compareAndSet(false, true)) {
      Thread thread = new Thread(new Killing(), "streamjob-removal"); // the cluster manager may take its time
      thread.setDaemon(true);
      thread.start();
      thread.join(PATIENCE_MS);
    }
  }

  /** Spark itself refuses to kill an executor that runs a task unless it is forced. */
  private void kill() {
    ArrayList ids;
    synchronized (busy) {
      ids = new ArrayList(busy);
    }
    for (int i = 0; i < ids.size(); i++) {
      String id = (String) ids.get(i);
      scala.collection.immutable.List one =
          JavaConverters$.MODULE$.asScalaBuffer(Collections.singletonList(id)).toList();
      boolean known = backend().isExecutorActive(id);
      if (!known || !backend().killExecutors(one, true, false, false).isEmpty()) {
        synchronized (busy) {
          busy.remove(id);
        }
      }
    }
  }

  private ExecutorAllocationClient backend() {
    return (ExecutorAllocationClient) context.schedulerBackend();
  }

  private final class Killing implements Runnable {
    public void run() {
      try {
        kill();
      } catch (Throwable fault) {
        faults.caught("removal", fault);
      } finally {
        killing.set(false);
      }
    }
  }
}
