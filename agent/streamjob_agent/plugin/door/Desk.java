package io.streamjob.plugin;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Option;

/** What the agent's Python may ask of the driver: the entry point of its gateway. */
public final class Desk {
  private final SparkContext context;
  private AutoCloseable probe;
  private boolean waiting = true;

  Desk(SparkContext context) {
    this.context = context;
  }

  public SparkContext context() {
    return context;
  }

  /** The context's own settings while they may still be completed; null once the driver has gone on. */
  public synchronized SparkConf settings() {
    return waiting ? context.conf() : null;
  }

  /** Settings are complete: the driver may go on. */
  public synchronized void ready() {
    waiting = false;
    notifyAll();
  }

  synchronized void awaitReady(long atMostMs) throws InterruptedException {
    long until = System.nanoTime() + atMostMs * 1000000L;
    long left = atMostMs;
    while (waiting && left > 0) {
      wait(left);
      left = (until - System.nanoTime()) / 1000000L;
    }
    waiting = false;
  }

  /** The application's first session, null until the job has made it: none is made here. */
  public Object session() {
    Option found = SparkSession.getDefaultSession();
    SparkSession session = found.isDefined() ? (SparkSession) found.get() : null;
    return session != null && session.sparkContext() == context ? session : null;
  }

  /** What has to be detached when Python is gone: nobody would fetch what it measures. */
  public synchronized void keep(AutoCloseable made) {
    probe = made;
  }

  synchronized void detach() throws Exception {
    if (probe != null) {
      probe.close();
    }
  }
}
