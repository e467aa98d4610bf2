package io.streamjob.probe;

import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Once closed, holds each query's thread before the first task of its next batch, until that query is stopped. */
final class Gate {
  private static final long LOOK_MS = 5L;
  private final Set held = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;
  private volatile long opensAt; // System.nanoTime(): nobody is held for ever

  void close(long atMostMs) {
    opensAt = System.nanoTime() + atMostMs * 1000000L;
    closed = true;
  }

  boolean holds(String queryId) {
    return held.contains(queryId);
  }

  /** Called on the query's own thread; an interrupt, which is how a query is stopped, ends it as Spark expects. */
  void pass(String queryId) {
    if (!closed) {
      return;
    }
    held.add(queryId);
    try {
      while (closed && System.nanoTime() - opensAt < 0L) {
        Thread.sleep(LOOK_MS);
      }
    } catch (InterruptedException stopped) {
      throw new UncheckedIOException(new InterruptedIOException("stopped between two batches"));
    } finally {
      held.remove(queryId);
    }
  }
}
