package io.streamjob.probe;

import org.apache.spark.sql.streaming.StreamingQueryListener;

/** A session's query events: the start comes on the query's own thread, the rest later on a queue of Spark's. */
public final class QueryListener extends StreamingQueryListener {
  private final Binder binder;
  private final LocalityWait wait;
  private final Faults faults;
  volatile boolean open = true;

  QueryListener(Binder binder, LocalityWait wait, Faults faults) {
    this.binder = binder;
    this.wait = wait;
    this.faults = faults;
  }

  public void onQueryStarted(StreamingQueryListener.QueryStartedEvent event) {
    try {
      if (open) {
        binder.started(event.id(), event.runId(), event.name());
      }
    } catch (Throwable fault) {
      faults.caught("start", fault);
    }
  }

  public void onQueryProgress(StreamingQueryListener.QueryProgressEvent event) {
    try {
      if (open) {
        binder.progressed(event.progress().id());
        if (event.progress().durationMs().containsKey("addBatch")) { // else no batch has run
          String batch = event.progress().runId() + " " + event.progress().batchId();
          wait.end(event.progress().id().toString(), batch);
        }
      }
    } catch (Throwable fault) {
      faults.caught("progress", fault);
    }
  }

  public void onQueryIdle(StreamingQueryListener.QueryIdleEvent event) {
  }

  public void onQueryTerminated(StreamingQueryListener.QueryTerminatedEvent event) {
    try {
      binder.terminated(event.id(), event.runId());
      wait.end(event.id().toString(), event.runId().toString());
    } catch (Throwable fault) {
      faults.caught("end", fault);
    }
  }
}
