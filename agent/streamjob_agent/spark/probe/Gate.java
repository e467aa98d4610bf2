package io.streamjob.probe;

import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Once closed, holds each query's thread before the first task of its next batch, until that query is stopped. */
final class Gate {
  private static final long LOOK_MS = 5L;
  private final Set held = ConcurrentHashMap.newKeySet();
  private final Faults faults;
  private volatile boolean closed;
  private volatile long opensAt; // System.nanoTime(): nobody is held for ever

  Gate(Faults faults) {
    this.faults = faults;
  }

  void close(long atMostMs) {
    opensAt = System.nanoTime() + atMostMs * 1000000L;
    closed = true;
  }

  boolean holds(String queryId) {
    return held.contains(queryId);
  }

  /**
   * Called on the query's own thread; a stop ends it as Spark expects. Its interrupt may have come just before and been
   * lost in somebody's library, and whoever stops waits for the thread: that the query is over is looked at as well.
   */
  void pass(String queryId, Planned batch) {
    if (!closed) {
      return;
    }
    held.add(queryId);
    try {
      while (closed && System.nanoTime() - opensAt < 0L) {
        if (over(batch.execution)) {
          throw stopped(batch);
        }
        Thread.sleep(LOOK_MS);
      }
    } catch (InterruptedException interrupted) {
      throw stopped(batch);
    } finally {
      held.remove(queryId);
    }
  }

  private static boolean over(Object execution) {
    try {
      return !((Boolean) Reflect.call(execution, "isActive")).booleanValue();
    } catch (Exception unknown) {
      return false; // then the interrupt alone tells
    }
  }

  private UncheckedIOException stopped(Planned batch) {
    boolean interrupted = Thread.interrupted(); // else no file system would do anything for this thread
    try {
      batch.takeBack();
    } catch (Throwable fault) {
      faults.caught("takeBack", fault);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return new UncheckedIOException(new InterruptedIOException("stopped between two batches"));
  }
}
