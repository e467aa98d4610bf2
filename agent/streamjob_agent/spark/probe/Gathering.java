package io.streamjob.probe;

import java.util.ArrayList;
import java.util.List;

/**
 * What Spark has told and nobody has taken in yet. Ends of tasks wait here for what comes after them: to wake a thread up for
 * each takes more of a core than all that is done with the news. Until anything else is told, many have come, or somebody
 * wants to know; and never while key groups move whose state is opened ahead as soon as their task has ended.
 */
final class Gathering {
  private static final int MANY = 100; // ends of tasks that wait: each holds all that its task has told
  private static final int MOST = 10000; // as many as Spark's own queues hold
  private static final int AWAKE_BATCHES = 2;
  private ArrayList told = new ArrayList();
  private boolean due; // the thread that waits is to take it in
  private boolean over;
  private int awake; // ends of batches until ends of tasks may wait
  private long gathered; // ends of tasks that have waited
  private long dropped; // events that nobody told

  /** The end of a task. */
  synchronized void ended(Object event) {
    if (add(event) && awake == 0 && told.size() < MANY) {
      gathered++;
    } else {
      wakeUp();
    }
  }

  /** Any other event. */
  synchronized void happened(Object event) {
    add(event);
    wakeUp();
  }

  private boolean add(Object event) {
    boolean room = told.size() < MOST;
    if (room) {
      told.add(event);
    } else {
      dropped++;
    }
    return room;
  }

  private void wakeUp() {
    due = true;
    notifyAll();
  }

  /** Owners change of groups whose state is opened ahead: until this batch and the next one have ended, what is told is heard at once. */
  synchronized void moves() {
    awake = AWAKE_BATCHES;
    wakeUp();
  }

  synchronized void batchEnded() {
    awake = Math.max(0, awake - 1);
  }

  /** All that waits, in the order in which it was told. */
  synchronized List take() {
    ArrayList all = told;
    told = new ArrayList();
    due = false;
    return all;
  }

  /** Waits until something is to be taken in; false once it is over. */
  synchronized boolean await() throws InterruptedException {
    while (!due && !over) {
      wait();
    }
    return !over;
  }

  /** Nobody waits any more. */
  synchronized void close() {
    over = true;
    notifyAll();
  }

  synchronized long gathered() {
    return gathered;
  }

  /** Events that there was no room for, since the last call. */
  synchronized long dropped() {
    long events = dropped;
    dropped = 0L;
    return events;
  }
}
