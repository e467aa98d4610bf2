package io.streamjob.probe;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Lets the events of a stage come together before the next one is heard: to wake a thread up for each task that begins or
 * ends takes more of a core than all that is done with the news. Only in the middle of a stage of many tasks, whose sums
 * nobody asks for before its end, and never while key groups move: a group's state is opened ahead as soon as its task ends.
 */
final class Gathering {
  private static final long REST_MS = 100L;
  private static final int FEWEST_TASKS = 32; // left of a stage: the last ones may all end at once
  private static final long EMPTY_NS = 1000000L; // from one task's end to the next, if that had to be waited for
  private static final int AWAKE_BATCHES = 2;
  final AtomicLong rests = new AtomicLong();
  private final AtomicInteger awake = new AtomicInteger(AWAKE_BATCHES); // ends of batches until events may gather
  private long heardNs = System.nanoTime(); // the queue's thread alone

  /** Owners change: until this batch and the next one have ended, what is told is heard at once. */
  void moves() {
    awake.set(AWAKE_BATCHES);
  }

  void batchEnded() {
    int batches = awake.get();
    if (batches > 0) {
      awake.compareAndSet(batches, batches - 1); // lost where groups began to move just now
    }
  }

  /** After a task's end was heard: whether the queue's thread had to wait for it, so that the next one is not there either. */
  boolean idle() {
    long now = System.nanoTime();
    boolean waited = now - heardNs > EMPTY_NS;
    heardNs = now;
    return waited && awake.get() == 0;
  }

  /** Sleeps, unless the stage may be over soon: `tasks` are left of it, which take about that long in all. */
  void rest(int tasks, long leftMs) {
    if (tasks < FEWEST_TASKS || leftMs < 2L * REST_MS) {
      return;
    }
    rests.incrementAndGet();
    try {
      Thread.sleep(REST_MS);
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
    heardNs = System.nanoTime();
  }
}
