package io.streamjob.probe;

import java.util.List;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import org.apache.spark.sql.streaming.StreamingQueryProgress;

/** What follows from each of Spark's events, one after the other. Nothing thrown here ends the thread. */
final class CoreListener {
  private final Fleet fleet;
  private final Registry registry;
  private final Registrar registrar;
  private final Plans plans;
  private final Meter meter;
  private final Boundaries boundaries;
  private final Gathering gathering;
  private final LocalityWait wait;
  private final Sessions sessions;
  private final Faults faults;
  final AtomicLong nanos = new AtomicLong();

  CoreListener(Fleet fleet, Registry registry, Registrar registrar, Plans plans, Meter meter, Boundaries boundaries,
      Gathering gathering, LocalityWait wait, Sessions sessions, Faults faults) {
    this.fleet = fleet;
    this.registry = registry;
    this.registrar = registrar;
    this.plans = plans;
    this.meter = meter;
    this.boundaries = boundaries;
    this.gathering = gathering;
    this.wait = wait;
    this.sessions = sessions;
    this.faults = faults;
  }

  void hear(Object event) {
    long from = System.nanoTime();
    if (event instanceof SparkListenerTaskEnd) {
      taskEnded((SparkListenerTaskEnd) event);
    } else if (event instanceof SparkListenerStageSubmitted) {
      stageSubmitted((SparkListenerStageSubmitted) event);
    } else if (event instanceof SparkListenerStageCompleted) {
      stageCompleted((SparkListenerStageCompleted) event);
    } else if (event instanceof SparkListenerJobStart) {
      jobStarted((SparkListenerJobStart) event);
    } else if (event instanceof SparkListenerJobEnd) {
      jobEnded((SparkListenerJobEnd) event);
    } else if (event instanceof SparkListenerExecutorAdded) {
      executorAdded((SparkListenerExecutorAdded) event);
    } else if (event instanceof SparkListenerExecutorRemoved) {
      executorRemoved((SparkListenerExecutorRemoved) event);
    } else {
      queryTold(event);
    }
    nanos.addAndGet(System.nanoTime() - from);
  }

  private void jobStarted(SparkListenerJobStart event) {
    try {
      Properties properties = event.properties();
      String id = properties == null ? null : properties.getProperty(Hook.QUERY);
      String batch = properties == null ? null : properties.getProperty(Hook.BATCH);
      if (id != null && batch != null) {
        plans.capture(id, meter.jobStarted(event.jobId(), event.stageInfos(), id, Long.parseLong(batch), event.time()));
      }
    } catch (Throwable fault) {
      faults.caught("plan", fault);
    }
  }

  private void jobEnded(SparkListenerJobEnd event) {
    try {
      meter.jobEnded(event.jobId());
    } catch (Throwable fault) {
      faults.caught("job", fault);
    }
  }

  /**
   * A batch's end comes in this order, too, and so after all that was told of its tasks; and the start of each query of the
   * application, whoever started it in whichever session.
   */
  private void queryTold(Object event) {
    if (event instanceof StreamingQueryListener.QueryStartedEvent) {
      StreamingQueryListener.QueryStartedEvent begun = (StreamingQueryListener.QueryStartedEvent) event;
      started(begun.id(), begun.runId());
      return;
    }
    if (event instanceof StreamingQueryListener.QueryTerminatedEvent) {
      StreamingQueryListener.QueryTerminatedEvent over = (StreamingQueryListener.QueryTerminatedEvent) event;
      terminated(over.id(), over.runId());
      return;
    }
    if (!(event instanceof StreamingQueryListener.QueryProgressEvent)) {
      return;
    }
    try {
      StreamingQueryProgress progress = ((StreamingQueryListener.QueryProgressEvent) event).progress();
      String line = BatchLine.of(progress, System.currentTimeMillis());
      boolean ran = progress.durationMs().containsKey("addBatch"); // else it looked for data
      meter.batch(progress.id().toString(), progress.batchId(), progress.numInputRows(), line, ran);
    } catch (Throwable fault) {
      faults.caught("progress", fault);
    }
    boundaries.passed();
    gathering.batchEnded();
  }

  private void started(UUID id, UUID run) {
    try {
      meter.started(id.toString(), run.toString());
      sessions.started(id, run);
    } catch (Throwable fault) {
      faults.caught("start", fault);
    }
  }

  private void terminated(UUID id, UUID run) {
    try {
      meter.over(id.toString(), run.toString());
    } catch (Throwable fault) {
      faults.caught("end", fault);
    }
  }

  private void stageSubmitted(SparkListenerStageSubmitted event) {
    try {
      Stage stage = meter.submitted(event.stageInfo(), event.properties());
      if (meter.rises(stage)) {
        boundaries.tell(); // rows that come faster are news before their batch ends
      }
      wait.submitted(stage);
    } catch (Throwable fault) {
      faults.caught("stage", fault);
    }
  }

  private void stageCompleted(SparkListenerStageCompleted event) {
    try {
      wait.completed(event.stageInfo().stageId(), event.stageInfo().attemptNumber());
      meter.completed(event.stageInfo(), registry);
    } catch (Throwable fault) {
      faults.caught("stage", fault);
    }
  }

  private void taskEnded(SparkListenerTaskEnd event) {
    try {
      meter.ended(event);
      if (event.taskInfo().failed()) {
        wait.failed(event.stageId(), event.stageAttemptId());
      }
      List left = meter.left();
      if (!left.isEmpty()) {
        registrar.left(left);
      }
    } catch (Throwable fault) {
      faults.caught("task", fault);
    }
  }

  private void executorAdded(SparkListenerExecutorAdded event) {
    try {
      fleet.added(event.executorId(), event.executorInfo().executorHost(), event.executorInfo().totalCores());
      wait.fleetChanged();
    } catch (Throwable fault) {
      faults.caught("executor", fault);
    }
  }

  private void executorRemoved(SparkListenerExecutorRemoved event) {
    try {
      fleet.removed(event.executorId());
      wait.fleetChanged();
      registrar.guard(event.executorId());
    } catch (Throwable fault) {
      faults.caught("executor", fault);
    }
  }
}
