package io.streamjob.probe;

/** Counts batch ends, and lets the agent wait for the next one, or until somebody wakes it up. */
final class Boundaries {
  private long count;
  private boolean woken; // by somebody whom no wait has heard of yet

  synchronized void passed() {
    count++;
    notifyAll();
  }

  /** The wait that goes on, or the next one, ends at once. */
  synchronized void wake() {
    woken = true;
    notifyAll();
  }

  /** Whether a batch has ended since `seen`, or somebody has woken the wait up; after at most `timeoutMs`. */
  synchronized boolean await(long seen, long timeoutMs) throws InterruptedException {
    long until = System.nanoTime() + timeoutMs * 1000000L;
    long left = timeoutMs;
    while (count == seen && !woken && left > 0L) {
      wait(left);
      left = (until - System.nanoTime()) / 1000000L;
    }
    boolean over = count != seen || woken;
    woken = false;
    return over;
  }

  synchronized long count() {
    return count;
  }
}
