package io.streamjob.probe;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;

/**
 * Ends the rest of the probe's own queue when something comes there that cannot wait. It hears so on the queue of Spark's
 * status listeners, whose thread is woken up for each task anyway; where that one drops an event, the rest ends by itself.
 */
public final class Stirring extends SparkListener {
  private final Gathering gathering;

  Stirring(Gathering gathering) {
    this.gathering = gathering;
  }

  public void onJobStart(SparkListenerJobStart event) {
    gathering.stir();
  }

  public void onStageSubmitted(SparkListenerStageSubmitted event) {
    gathering.stir();
  }

  public void onStageCompleted(SparkListenerStageCompleted event) {
    gathering.stir();
  }

  public void onExecutorAdded(SparkListenerExecutorAdded event) {
    gathering.stir();
  }

  public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
    gathering.stir();
  }

  public void onApplicationEnd(SparkListenerApplicationEnd event) {
    gathering.stir();
  }

  /** What streaming queries tell: of their starts, their batches and their ends. */
  public void onOtherEvent(SparkListenerEvent event) {
    gathering.stir();
  }
}
