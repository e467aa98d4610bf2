package streamjob.benchmarks;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkFirehoseListener;
import org.apache.spark.scheduler.SparkListenerEvent;

/** Counts events and does nothing else; where an event finds the queue empty, others are let gather for a while first. */
public final class Handed extends SparkFirehoseListener {
  private static final long EMPTY_NS = 1000000L; // between two events that were not there together
  private volatile long gatherMs;
  private final AtomicLong events = new AtomicLong();
  private long lastNs;

  public void gather(long ms) {
    gatherMs = ms;
  }

  public void onEvent(SparkListenerEvent event) {
    events.incrementAndGet();
    try {
      if (gatherMs > 0L && System.nanoTime() - lastNs > EMPTY_NS) {
        Thread.sleep(gatherMs);
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
    lastNs = System.nanoTime();
  }

  public long events() {
    return events.get();
  }
}
