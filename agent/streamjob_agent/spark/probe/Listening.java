package io.streamjob.probe;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes in what Spark has told, in its order, on a thread of the probe's own: some of what follows from it asks Spark, an
 * executor that is lost for each of its key groups.
 */
final class Listening implements Runnable {
  private static final long PATIENCE_S = 5L; // of who wants to know, while what came before is still taken in
  private final Gathering gathering;
  private final CoreListener listener;
  private final Meter meter;
  private final Faults faults;
  private final ReentrantLock order = new ReentrantLock();

  Listening(Gathering gathering, CoreListener listener, Meter meter, Faults faults) {
    this.gathering = gathering;
    this.listener = listener;
    this.meter = meter;
    this.faults = faults;
  }

  void start() {
    Thread thread = new Thread(this, "streamjob-events");
    thread.setDaemon(true);
    thread.start();
  }

  public void run() {
    try {
      while (gathering.await()) {
        order.lock();
        take();
      }
    } catch (Throwable fault) {
      faults.caught("events", fault);
    }
  }

  /** On the caller's thread: what was told until now is known then, unless that takes too long. */
  void now() throws InterruptedException {
    if (order.tryLock(PATIENCE_S, TimeUnit.SECONDS)) {
      take();
    }
  }

  private void take() {
    try {
      List all = gathering.take();
      for (int i = 0; i < all.size(); i++) {
        listener.hear(all.get(i));
      }
      meter.lost(gathering.dropped());
    } finally {
      order.unlock();
    }
  }
}
