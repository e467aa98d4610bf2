package io.streamjob.probe;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Lets the events of a stage come together before the next one is heard: to wake a thread up for each task that begins or
 * ends takes more of a core than all that is done with the news. Only in the middle of a stage of many tasks, whose sums
 * nobody asks for before its end, and never while key groups move whose state is opened ahead as soon as their task ends.
 * A rest is the longer the more time the stage has left, and ends with any event that is not of a task alone.
 */
final class Gathering {
  private static final long SHORTEST_MS = 100L;
  private static final long LONGEST_MS = 800L; // of a listener that takes a second Spark writes in the job's log
  private static final int SHARE = 10; // part of the stage's time left: what is late must not be late for its end
  private static final int MOST_TASKS = 200; // that end meanwhile: the queue drops events where it has thousands
  private static final int FEWEST_TASKS = 32; // left of a stage: the last ones may all end at once
  private static final long EMPTY_NS = 1000000L; // from one event to the next, if that had to be waited for
  private static final int AWAKE_BATCHES = 2;
  final AtomicLong rests = new AtomicLong();
  private final AtomicInteger awake = new AtomicInteger(); // ends of batches until events may gather
  private boolean stirred; // guarded by its own monitor
  private long heardNs = System.nanoTime(); // the queue's thread alone

  /** Owners change of groups whose state is opened ahead: until this batch and the next one have ended, what is told is heard at once. */
  void moves() {
    awake.set(AWAKE_BATCHES);
    stir();
  }

  void batchEnded() {
    int batches = awake.get();
    if (batches > 0) {
      awake.compareAndSet(batches, batches - 1); // lost where groups began to move just now
    }
  }

  /** The rest that goes on, or else the next one, is over at once. */
  synchronized void stir() {
    stirred = true;
    notifyAll();
  }

  /** After an event of a task was heard: whether the queue's thread had to wait for it, so that the next one is not there. */
  boolean idle() {
    long now = System.nanoTime();
    boolean waited = now - heardNs > EMPTY_NS;
    heardNs = now;
    return waited && awake.get() == 0;
  }

  /** Rests, unless the stage may be over soon: `tasks` are left of it, which take about that long in all. */
  void rest(int tasks, long leftMs) throws InterruptedException {
    if (tasks < FEWEST_TASKS || leftMs < 2L * SHORTEST_MS) {
      return;
    }
    long fewMs = leftMs * MOST_TASKS / tasks;
    rests.incrementAndGet();
    sleep(Math.max(SHORTEST_MS, Math.min(LONGEST_MS, Math.min(fewMs, leftMs / SHARE))));
    heardNs = System.nanoTime();
  }

  /** Until somebody stirs, for so long at most. */
  synchronized void sleep(long ms) throws InterruptedException {
    long until = System.nanoTime() + ms * 1000000L;
    long left = ms;
    while (!stirred && left > 0L) {
      wait(left);
      left = (until - System.nanoTime()) / 1000000L;
    }
    stirred = false;
  }
}
