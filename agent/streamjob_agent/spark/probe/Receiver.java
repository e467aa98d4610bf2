package io.streamjob.probe;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Hears Spark's events where Spark itself hears of executors, on a queue whose thread is woken up for each event anyway and on
 * which nobody computes: so few wait there that none is dropped. It only keeps them, for `Listening`.
 */
public final class Receiver extends SparkListener {
  private final Gathering gathering;

  Receiver(Gathering gathering) {
    this.gathering = gathering;
  }

  public void onJobStart(SparkListenerJobStart event) {
    gathering.happened(event);
  }

  public void onJobEnd(SparkListenerJobEnd event) {
    gathering.happened(event);
  }

  public void onStageSubmitted(SparkListenerStageSubmitted event) {
    gathering.happened(event);
  }

  public void onStageCompleted(SparkListenerStageCompleted event) {
    gathering.happened(event);
  }

  public void onTaskEnd(SparkListenerTaskEnd event) {
    if (event.taskInfo().failed()) {
      gathering.happened(event); // somebody may be waited for in vain
    } else {
      gathering.ended(event);
    }
  }

  public void onExecutorAdded(SparkListenerExecutorAdded event) {
    gathering.happened(event);
  }

  public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
    gathering.happened(event);
  }

  /** What streaming queries tell: of their starts, their batches and their ends. */
  public void onOtherEvent(SparkListenerEvent event) {
    gathering.happened(event);
  }
}
