package io.streamjob.probe;

import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import scala.None$;
import scala.collection.JavaConverters$;

/**
 * Takes executors away. From the moment that one is asked to go Spark offers it no task more. It stays for as long as
 * somebody may fetch its shuffle files: until all that was under way at that moment has ended. Then it is stopped.
 *
 * <p>Spark's own decommissioning stops an executor a second after its last task, in the middle of a batch that needs its
 * files, unless these are carried away first; where a job asks for that (spark.storage.decommission.enabled), it is left to Spark.
 */
final class Removal {
  private static final long LOOK_MS = 100L;
  private static final long PAUSE_MS = 1000L; // after a fault
  private final SparkContext context;
  private final Fleet fleet;
  private final Registrar registrar;
  private final ConcurrentHashMap running;
  private final Faults faults;
  private final HashMap leaving = new HashMap(); // id -> UnderWay, what was at the moment it was asked to go
  private boolean looking; // a thread is at it

  Removal(SparkContext context, Fleet fleet, Registrar registrar, ConcurrentHashMap running, Faults faults) {
    this.context = context;
    this.fleet = fleet;
    this.registrar = registrar;
    this.running = running;
    this.faults = faults;
  }

  /** Its groups are given away first, so that nothing new starts on it. False where Spark does not know it. */
  boolean remove(String id) throws Exception {
    fleet.leave(id);
    registrar.guard(id);
    boolean carriesAway = asked("spark.decommission.enabled") && asked("spark.storage.decommission.enabled");
    ExecutorDecommissionInfo why =
        new ExecutorDecommissionInfo("scaled in by StreamJob", (scala.Option) None$.MODULE$);
    boolean known = backend().decommissionExecutor(id, why, true, !carriesAway); // true: the executor is not told of it
    if (known && !carriesAway) {
      wait(id, new UnderWay(context, running));
    }
    return known;
  }

  private boolean asked(String setting) {
    return context.conf().getBoolean(setting, false);
  }

  private synchronized void wait(String id, UnderWay before) {
    leaving.put(id, before);
    if (!looking) {
      looking = true;
      Thread thread = new Thread(new Looking(), "streamjob-removal"); // the cluster manager may take its time
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Whether somebody is still waited for. */
  private synchronized boolean waits() {
    looking = !leaving.isEmpty() && !context.isStopped();
    return looking;
  }

  /** Stops those that nobody needs any more. Spark refuses while a task runs there: then it is asked again. */
  private void look() throws Exception {
    Iterator each = waiting().entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      String id = (String) entry.getKey();
      if (!backend().getExecutorIds().contains(id)) {
        gone(id);
      } else if (((UnderWay) entry.getValue()).isOver(context, running)) {
        backend().killExecutors(
            JavaConverters$.MODULE$.asScalaBuffer(Collections.singletonList(id)).toList(), false, false, false);
      }
    }
  }

  private synchronized Map waiting() {
    return new HashMap(leaving);
  }

  private synchronized void gone(String id) {
    leaving.remove(id);
  }

  private ExecutorAllocationClient backend() {
    return (ExecutorAllocationClient) context.schedulerBackend();
  }

  private final class Looking implements Runnable {
    public void run() {
      while (waits()) {
        long pause = LOOK_MS;
        try {
          look();
        } catch (Throwable fault) {
          faults.caught("removal", fault);
          pause = PAUSE_MS;
        }
        try {
          Thread.sleep(pause);
        } catch (InterruptedException nobody) { // nobody has this thread
          continue;
        }
      }
    }
  }
}
