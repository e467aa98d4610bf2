package io.streamjob.probe;

/** Counts batch ends, and lets the agent wait for the next one, or until somebody wakes it up. */
final class Boundaries {
  private long count;
  private boolean woken; // by somebody whom no wait has heard of yet
  private boolean news; // of what is under way, as no wait has told yet

  synchronized void passed() {
    count++;
    notifyAll();
  }

  /** The wait that goes on, or the next one, ends at once. */
  synchronized void wake() {
    woken = true;
    notifyAll();
  }

  /** Something is to be seen in mid-batch: the wait that goes on, or the next one, ends at once and says so. */
  synchronized void tell() {
    news = true;
    wake();
  }

  /** Whether there was news since the last call. */
  synchronized boolean told() {
    boolean told = news;
    news = false;
    return told;
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
