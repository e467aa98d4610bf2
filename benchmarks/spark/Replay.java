package io.streamjob.probe;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Properties;
import org.apache.spark.Success$;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.apache.spark.storage.RDDInfo;
import org.apache.spark.storage.StorageLevel;
import scala.None$;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Nil$;

/** Batches made of Spark's own events, given to the probe's meter as Spark's listener bus gives them; no Spark runs. */
public final class Replay {
  private static final int OTHERS = 24; // accumulators of a task that are no operator's
  private static final scala.collection.immutable.List NOTHING = (scala.collection.immutable.List) (Object) Nil$.MODULE$;
  private static final Option NONE = (Option) (Object) None$.MODULE$;
  private final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
  private final Tracked query = new Tracked("q");
  private final Plans plans = new Plans(new Registry(), null, null);
  private final Meter meter = new Meter(plans);
  private final int operators;
  private final int partitions;
  private final int figures;
  private long number;

  /** Each task tells `figures` accumulators of its operator. */
  public Replay(int operators, int partitions, int figures) {
    this.operators = operators;
    this.partitions = partitions;
    this.figures = figures;
    for (int o = 0; o < operators; o++) {
      query.operators.put(Integer.valueOf(o), new Operator(o, partitions));
    }
  }

  /** CPU time in ns that the ends of one batch's tasks took; the batch goes on. */
  public long tasks() {
    number++;
    plan();
    long spent = 0L;
    for (int o = 0; o < operators; o++) {
      SparkListenerTaskEnd[] ends = stage(o);
      long from = clock.getCurrentThreadCpuTime();
      for (int t = 0; t < ends.length; t++) {
        meter.ended(ends[t]);
        meter.left();
      }
      spent += clock.getCurrentThreadCpuTime() - from;
    }
    return spent;
  }

  /** CPU time in ns that the batch's end took. */
  public long end() {
    long from = clock.getCurrentThreadCpuTime();
    meter.batch("q", number, 10L, "B\t9000\tq\tr\t" + number + "\t1500\t10\t2.5\t2.5\t-1\t0\taddBatch=700", true);
    return clock.getCurrentThreadCpuTime() - from;
  }

  /** CPU time in ns of the whole JVM. */
  public long spent() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  public String drain() throws Exception {
    Drained out = new Drained();
    meter.drain(out);
    return out.encoded();
  }

  private long id(int operator, int figure) {
    return ((number * operators + operator) * figures + figure) * 2L;
  }

  private void plan() {
    Accumulators all = new Accumulators();
    for (int o = 0; o < operators; o++) {
      for (int i = 0; i < figures; i++) {
        Plans.Metric metric = new Plans.Metric();
        metric.query = query;
        metric.operator = o;
        metric.figure = i < 2 ? i : -1;
        all.put(id(o, i), metric);
      }
    }
    plans.remember("q", number, all);
  }

  private SparkListenerTaskEnd[] stage(int operator) {
    int stage = (int) number * operators + operator;
    RDDInfo rdd = new RDDInfo(stage, "StateStoreRDD", partitions, StorageLevel.NONE(), false, NOTHING, "", NONE, null);
    scala.collection.immutable.List rdds = NOTHING.$colon$colon(rdd);
    StageInfo info = new StageInfo(stage, 0, "", partitions, rdds, NOTHING, "", null, NOTHING, NONE, 0, false, 0);
    Properties properties = new Properties();
    properties.setProperty(Hook.QUERY, "q");
    properties.setProperty(Hook.BATCH, String.valueOf(number));
    meter.submitted(info, properties);
    SparkListenerTaskEnd[] ends = new SparkListenerTaskEnd[partitions];
    for (int p = 0; p < partitions; p++) {
      String executor = String.valueOf(p % 10);
      TaskInfo task = new TaskInfo(p, p, 0, p, 1000L + p, executor, "host", TaskLocality.PROCESS_LOCAL(), false);
      task.setAccumulables(told(operator));
      task.markFinished(org.apache.spark.TaskState.FINISHED(), 2000L + p);
      TaskMetrics metrics = new TaskMetrics();
      metrics.setExecutorRunTime(15L);
      ends[p] = new SparkListenerTaskEnd(stage, 0, "ResultTask", Success$.MODULE$, task, null, metrics);
    }
    return ends;
  }

  /** What a task tells: figures of its operator and others, between each other. */
  private scala.collection.immutable.List told(int operator) {
    scala.collection.immutable.List all = NOTHING;
    Some value = new Some(Long.valueOf(5L));
    for (int i = 0; i < figures; i++) {
      all = all.$colon$colon(new AccumulableInfo(id(operator, i), NONE, value, value, true, true, NONE));
    }
    for (int i = 0; i < OTHERS; i++) {
      all = all.$colon$colon(new AccumulableInfo(1000000000L + i, NONE, value, value, true, true, NONE));
    }
    return all;
  }
}
