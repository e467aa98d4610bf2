package io.streamjob.probe;

import java.io.File;
import java.io.FileOutputStream;
import java.lang.reflect.Constructor;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import org.apache.spark.SimpleFutureAction;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import scala.Function1;
import scala.Tuple2;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;
import scala.util.Try;

/**
 * Has the stores of a moving key group opened on its new executor from the moment at which its last task on the old one has
 * ended, while the batch ends and the next one is planned. Only for checkpoints that are not on a disk of the machine, and
 * where executors can be given a class of ours; else a move's first task opens them, as Spark does it.
 */
final class Ahead {
  final AtomicLong asked = new AtomicLong();
  private final SparkContext context;
  private final Fleet fleet;
  private final Faults faults;
  private volatile Constructor opening; // null where it may not be
  private Map classes; // its jar's, until executors have them
  private SimpleFutureAction newest;

  Ahead(SparkContext context, Fleet fleet, Faults faults) {
    this.context = context;
    this.fleet = fleet;
    this.faults = faults;
  }

  /** `classes` maps names to bytes: executors get them with the first group that moves. */
  void offer(Class type, Map classes) throws Exception {
    this.classes = classes;
    opening = type.getConstructor(new Class[] {String.class, StateStoreProviderId.class, Long.TYPE, Object[].class});
  }

  /** Whether a group of the query moves once its next task has ended, not before. */
  boolean serves(Tracked query) {
    return opening != null && query.far;
  }

  /** The group's task of a batch has ended: its state is at `version`. On the listener's thread. */
  void open(Tracked query, Operator operator, int partition, long version) {
    try {
      List recipes = recipes(query, operator);
      String executor;
      String root;
      UUID run;
      synchronized (query) {
        executor = operator.wanted[partition];
        root = query.root;
        run = query.runId;
      }
      String host = executor == null || !healthy() ? null : fleet.host(executor);
      for (int i = 0; host != null && recipes != null && i < recipes.size(); i++) {
        Object[] one = (Object[]) recipes.get(i);
        StateStoreId store = new StateStoreId(root, ((Long) one[0]).longValue(), partition, "default");
        Object[] parts = {executor, new StateStoreProviderId(store, run), Long.valueOf(version), one[1]};
        submit((Function1) opening.newInstance(parts), "executor_" + host + "_" + executor);
        asked.incrementAndGet();
      }
    } catch (Throwable fault) {
      opening = null; // it would fail again
      faults.caught("ahead", fault);
    }
  }

  /** Outside the query's monitor: its own thread may be at its plan, and wait for the monitor. */
  private static List recipes(Tracked query, Operator operator) throws Exception {
    Object top;
    synchronized (query) {
      if (operator.recipes != null) {
        return operator.recipes;
      }
      top = operator.top;
    }
    List found = top == null ? null : Recipes.of((SparkPlan) top);
    synchronized (query) {
      operator.recipes = found;
    }
    return found;
  }

  /** Once a job of ours has failed there are no more. */
  private boolean healthy() {
    if (newest != null && newest.isCompleted() && ((Try) newest.value().get()).isFailure()) {
      opening = null;
      faults.caught("ahead", (Throwable) ((Try) newest.value().get()).failed().get());
    }
    return opening != null;
  }

  private void submit(Function1 task, String place) throws Exception {
    if (classes != null) {
      context.addJar(jar(classes));
      classes = null;
    }
    scala.collection.immutable.List places = Registrar.NOTHING.$colon$colon(place);
    scala.collection.immutable.List row = Registrar.NOTHING.$colon$colon(new Tuple2("", places));
    RDD rdd = context.makeRDD(row, ClassTag$.MODULE$.apply(String.class));
    context.setLocalProperty("spark.job.description", "StreamJob: opens the state of a key group that moves");
    try {
      newest = context.submitJob(rdd, task, Registrar.NOTHING.$colon$colon(Integer.valueOf(0)), new Told(), new Done());
    } finally {
      context.setLocalProperty("spark.job.description", null);
    }
  }

  private static String jar(Map classes) throws Exception {
    File file = File.createTempFile("streamjob-opening", ".jar");
    file.deleteOnExit();
    JarOutputStream out = new JarOutputStream(new FileOutputStream(file));
    try {
      Iterator each = classes.entrySet().iterator();
      while (each.hasNext()) {
        Map.Entry entry = (Map.Entry) each.next();
        out.putNextEntry(new ZipEntry(((String) entry.getKey()).replace('.', '/') + ".class"));
        out.write((byte[]) entry.getValue());
      }
    } finally {
      out.close();
    }
    return file.getPath();
  }

  private static final class Told extends AbstractFunction2 {
    public Object apply(Object partition, Object answer) {
      return BoxedUnit.UNIT;
    }
  }

  private static final class Done extends AbstractFunction0 {
    public Object apply() {
      return null;
    }
  }
}
