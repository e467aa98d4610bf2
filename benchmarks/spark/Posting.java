package io.streamjob.probe;

import java.util.Properties;
import org.apache.spark.SparkContext;
import org.apache.spark.Success$;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import scala.None$;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Nil$;

/** Stages of Spark's own events, posted on a driver's listener bus at the pace of tasks that take a while; no task runs. */
public final class Posting {
  private static final scala.collection.immutable.List NOTHING = (scala.collection.immutable.List) (Object) Nil$.MODULE$;
  private static final Option NONE = (Option) (Object) None$.MODULE$;
  private final SparkContext context;
  private int stages = 1000000; // none of the driver's own

  public Posting(SparkContext context) {
    this.context = context;
  }

  /** One stage of so many tasks, which each tell `figures` accumulators; a task begins where another one ends. */
  public void stage(int tasks, int figures, long taskMs) throws Exception {
    int stage = stages++;
    RDDInfo rdd = new RDDInfo(stage, "StateStoreRDD", tasks, StorageLevel.NONE(), false, NOTHING, "", NONE, null);
    scala.collection.immutable.List rdds = NOTHING.$colon$colon(rdd);
    StageInfo info = new StageInfo(stage, 0, "", tasks, rdds, NOTHING, "", null, NOTHING, NONE, 0, false, 0);
    info.submissionTime_$eq(new Some(Long.valueOf(System.currentTimeMillis())));
    Properties properties = new Properties();
    properties.setProperty(Hook.QUERY, "q");
    properties.setProperty(Hook.BATCH, String.valueOf(stage));
    context.listenerBus().post(new SparkListenerStageSubmitted(info, properties));
    for (int t = 0; t < tasks; t++) {
      TaskInfo task = new TaskInfo(t, t, 0, t, System.currentTimeMillis(), "0", "host", TaskLocality.PROCESS_LOCAL(), false);
      context.listenerBus().post(new SparkListenerTaskStart(stage, 0, task));
      Thread.sleep(taskMs);
      task.setAccumulables(told(t, figures));
      task.markFinished(org.apache.spark.TaskState.FINISHED(), System.currentTimeMillis());
      TaskMetrics metrics = new TaskMetrics();
      metrics.setExecutorRunTime(taskMs);
      ExecutorMetrics peak = new ExecutorMetrics();
      context.listenerBus().post(new SparkListenerTaskEnd(stage, 0, "ResultTask", Success$.MODULE$, task, peak, metrics));
    }
    info.completionTime_$eq(new Some(Long.valueOf(System.currentTimeMillis())));
    context.listenerBus().post(new SparkListenerStageCompleted(info));
    context.listenerBus().waitUntilEmpty();
  }

  private static scala.collection.immutable.List told(int task, int figures) {
    scala.collection.immutable.List all = NOTHING;
    Some value = new Some(Long.valueOf(5L));
    for (int i = 0; i < figures; i++) {
      all = all.$colon$colon(new AccumulableInfo(1000000000L + i, NONE, value, value, true, true, NONE));
    }
    return all;
  }
}
