package io.streamjob.probe;

/** Counts batch ends, and lets the agent wait for the next one. */
final class Boundaries {
  private long count;

  synchronized void passed() {
    count++;
    notifyAll();
  }

  /** The count once it differs from `seen`, or after at most `timeoutMs`. */
  synchronized long await(long seen, long timeoutMs) throws InterruptedException {
    long until = System.nanoTime() + timeoutMs * 1000000L;
    long left = timeoutMs;
    while (count == seen && left > 0L) {
      wait(left);
      left = (until - System.nanoTime()) / 1000000L;
    }
    return count;
  }
}
