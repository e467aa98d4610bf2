package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.TaskSetManager;

/**
 * Gives sets of tasks without state the wait for their executor that they have without us. The news that a stage is submitted
 * comes before Spark has made its set of tasks, which has the long wait for some milliseconds then: that is no harm,
 * while the other way round a task with state would be stolen. A thread looks for the sets; it ends when there is none to find.
 *
 * <p>So does a set with state that has lost an executor, and one of whose tasks an executor gets no second one where it has
 * failed (spark.excludeOnFailure): Spark goes on waiting for it, while all others have nothing to do.
 */
final class OtherWaits implements Runnable {
  private static final int MOST = 1000; // stages that run
  private static final long LOOK_MS = 10L;
  private static final int LOOKS = 1000;
  private static final String LEVEL = "PROCESS_LOCAL";
  private static final long BEREFT_MS = 3000L; // Spark's default
  private final SparkContext context;
  private final Faults faults;
  private final LinkedHashMap stages = new LinkedHashMap(); // String "stage attempt" -> Running
  private boolean looking;
  private boolean broken; // this Spark has its sets of tasks elsewhere: they wait longer, as if nobody looked

  OtherWaits(SparkContext context, Faults faults) {
    this.context = context;
    this.faults = faults;
  }

  private static final class Running {
    final int stage;
    final int attempt;
    final boolean stateful;
    boolean bereft; // an executor that had tasks of it is gone
    boolean failed; // a task of it has
    int looks; // left

    Running(Stage of) {
      stage = of.id;
      attempt = of.attempt;
      stateful = of.stateful;
    }
  }

  synchronized void begin(Stage stage, boolean waits) {
    Running running = new Running(stage);
    running.looks = waits && !stage.stateful ? LOOKS : 0;
    stages.put(stage.id + " " + stage.attempt, running);
    if (stages.size() > MOST) {
      stages.remove(stages.keySet().iterator().next()); // its end was lost
    }
    look();
  }

  synchronized void end(int stage, int attempt) {
    stages.remove(stage + " " + attempt);
  }

  synchronized void again() {
    Iterator each = stages.values().iterator();
    while (each.hasNext()) {
      Running running = (Running) each.next();
      running.looks = !running.stateful || running.bereft || running.failed ? LOOKS : 0;
    }
    look();
  }

  /** An executor is gone, or gets no task more, that tasks with state may wait for. */
  synchronized void bereave() {
    Iterator each = stages.values().iterator();
    while (each.hasNext()) {
      ((Running) each.next()).bereft = true;
    }
    again();
  }

  /** A task of the stage has failed. */
  synchronized void failed(int stage, int attempt) {
    Running running = (Running) stages.get(stage + " " + attempt);
    if (running != null && running.stateful && !running.failed) {
      running.failed = true;
      running.looks = LOOKS;
      look();
    }
  }

  private void look() {
    if (!looking && !broken && !wanted().isEmpty()) {
      looking = true;
      Thread thread = new Thread(this, "streamjob-waits");
      thread.setDaemon(true);
      thread.start();
    }
  }

  public void run() {
    try {
      List some = next();
      while (some != null) {
        for (int i = 0; i < some.size(); i++) {
          Running running = (Running) some.get(i);
          if (shorten(running)) {
            found(running);
          }
        }
        Thread.sleep(LOOK_MS);
        some = next();
      }
    } catch (Throwable fault) {
      faults.caught("waits", fault);
      giveUp();
    }
  }

  /** Those to look for, each a number of times at most; null, and the thread ends, when there is none. */
  private synchronized List next() {
    List some = wanted();
    for (int i = 0; i < some.size(); i++) {
      ((Running) some.get(i)).looks--;
    }
    looking = !some.isEmpty();
    return looking ? some : null;
  }

  private List wanted() {
    ArrayList some = new ArrayList();
    Iterator each = stages.values().iterator();
    while (each.hasNext()) {
      Running running = (Running) each.next();
      if (running.looks > 0) {
        some.add(running);
      }
    }
    return some;
  }

  private synchronized void found(Running running) {
    running.looks = 0;
  }

  private synchronized void giveUp() {
    broken = true;
    looking = false;
    stages.clear();
  }

  /** Whether the set of tasks was there; the scheduler's monitor is held for a few writes. */
  private boolean shorten(Running running) {
    TaskSchedulerImpl scheduler = (TaskSchedulerImpl) context.taskScheduler();
    long most = running.stateful ? BEREFT_MS : context.conf().getTimeAsMs("spark.locality.wait", "3s");
    synchronized (scheduler) {
      Object known = Reflect.orNull(scheduler.taskSetManagerForAttempt(running.stage, running.attempt));
      if (known == null) {
        return false;
      }
      TaskSetManager tasks = (TaskSetManager) known;
      if (running.stateful && !running.bereft && !tasks.taskSetExcludelistHelperOpt().isDefined()) {
        return true; // what has failed runs again where its state is
      }
      long[] waits = tasks.localityWaits();
      Object[] levels = tasks.myLocalityLevels();
      for (int i = 0; i < waits.length; i++) {
        if (LEVEL.equals(String.valueOf(levels[i]))) {
          waits[i] = Math.min(waits[i], most);
        }
      }
      return true;
    }
  }
}
