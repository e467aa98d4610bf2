package io.streamjob.probe;

import java.io.File;
import java.io.FileOutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
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
  /** A local property of jobs of ours: their one task waits for its executor as tasks with state do. */
  static final String OURS = "streamjob.opening";
  private static final int MOST_READY = 1000;
  final AtomicLong asked = new AtomicLong(); // key groups
  final AtomicLong astray = new AtomicLong(); // tasks of ours that another executor got
  private final HashSet ready = new HashSet(); // executors that have the class
  private final ArrayList asks = new ArrayList(); // Object[] {UUID run, Long version, SimpleFutureAction}, not all over yet
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

  /** `classes` maps names to bytes: executors get them with the first group that moves. Throws where this Spark is another. */
  synchronized void offer(Class type, Map classes) throws Exception {
    try {
      type.getMethod("check", new Class[0]).invoke(null, new Object[0]);
    } catch (InvocationTargetException lacking) {
      throw (Exception) lacking.getCause();
    }
    this.classes = classes;
    ready.clear();
    opening = type.getConstructor(new Class[] {String.class, Object[].class});
  }

  /** Whether a group of the query moves once its next task has ended, not before. */
  boolean serves(Tracked query) {
    return opening != null && query.far;
  }

  /**
   * Groups of these operators will move to these executors, after their next task: what can be done before that begins now,
   * the class on executors and the first look at the plan, which takes a second in a driver that is not warm. On a thread of
   * its own: the agent's would rest for as long as that asks for.
   */
  void prepare(Tracked query, Collection operators, Collection executors) {
    ArrayList fresh = new ArrayList();
    Iterator each = executors.iterator();
    while (each.hasNext()) {
      Object executor = each.next();
      if (isNew(executor)) {
        fresh.add(executor);
      }
    }
    if (!fresh.isEmpty()) {
      Thread thread = new Thread(new Preparing(query, operators, fresh), "streamjob-preparing");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private synchronized boolean isNew(Object executor) {
    if (ready.size() >= MOST_READY) {
      ready.clear(); // most are gone
    }
    return ready.add(executor);
  }

  private final class Preparing implements Runnable {
    private final Tracked query;
    private final Collection operators;
    private final Collection executors;

    Preparing(Tracked query, Collection operators, Collection executors) {
      this.query = query;
      this.operators = operators;
      this.executors = executors;
    }

    public void run() {
      try {
        Iterator targets = executors.iterator();
        while (targets.hasNext()) {
          submit((String) targets.next(), new Object[0], null, 0L);
        }
        Iterator each = operators.iterator();
        while (each.hasNext()) {
          recipes(query, (Operator) each.next());
        }
      } catch (Throwable fault) {
        gaveUp(fault);
      }
    }
  }

  /** The group's task of a batch has ended: its state is at `version`. While that is taken in. */
  void open(Tracked query, Operator operator, int partition, long version) {
    try {
      List recipes = recipes(query, operator);
      String executor;
      Object top;
      String root;
      UUID run;
      synchronized (query) {
        executor = operator.wanted[partition];
        top = operator.top;
        root = query.root;
        run = query.runId;
      }
      ArrayList stores = new ArrayList();
      for (int i = 0; recipes != null && i < recipes.size(); i++) {
        Recipe one = (Recipe) recipes.get(i);
        String name = one.named ? VersionNames.of((SparkPlan) top, one, partition, version) : null;
        if (!one.named || name != null) {
          StateStoreId store = new StateStoreId(root, one.operator, partition, one.store);
          stores.add(one.arguments(new StateStoreProviderId(store, run), version, name));
        }
      }
      if (executor != null && !stores.isEmpty() && submit(executor, stores.toArray(), run, version)) {
        asked.incrementAndGet();
      }
    } catch (Throwable fault) {
      gaveUp(fault);
    }
  }

  private void gaveUp(Throwable fault) {
    opening = null; // it would fail again
    faults.caught("ahead", fault);
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
    boolean over = opening != null && newest != null && newest.isCompleted() && !newest.isCancelled();
    if (over && ((Try) newest.value().get()).isFailure()) {
      gaveUp((Throwable) ((Try) newest.value().get()).failed().get());
    }
    return opening != null;
  }

  /** False where the executor is gone, or nothing is opened ahead any more. */
  private synchronized boolean submit(String executor, Object[] stores, UUID run, long version) throws Exception {
    String host = fleet.host(executor);
    Constructor made = host == null || !healthy() ? null : opening;
    if (made == null) {
      return false;
    }
    if (classes != null) {
      context.addJar(jar(classes));
      classes = null;
    }
    Function1 task = (Function1) made.newInstance(new Object[] {executor, stores});
    scala.collection.immutable.List places = Registrar.NOTHING.$colon$colon("executor_" + host + "_" + executor);
    scala.collection.immutable.List row = Registrar.NOTHING.$colon$colon(new Tuple2("", places));
    RDD rdd = context.makeRDD(row, ClassTag$.MODULE$.apply(String.class));
    context.setLocalProperty("spark.job.description", "StreamJob: opens the state of a key group that moves");
    context.setLocalProperty(OURS, "true");
    try {
      newest = context.submitJob(rdd, task, Registrar.NOTHING.$colon$colon(Integer.valueOf(0)), new Told(astray), new Done());
    } finally {
      context.setLocalProperty("spark.job.description", null);
      context.setLocalProperty(OURS, null);
    }
    asks.add(new Object[] {run, Long.valueOf(version), newest});
    return true;
  }

  /**
   * A run's batch begins: what an executor was too busy to open for the batches before is not wanted any more. It would tell
   * Spark that the store is there, though its group may have gone elsewhere since, or its run be over.
   */
  synchronized void begins(UUID run, long batch) {
    Iterator each = asks.iterator();
    while (each.hasNext()) {
      Object[] ask = (Object[]) each.next();
      SimpleFutureAction job = (SimpleFutureAction) ask[2];
      boolean late = run.equals(ask[0]) && ((Long) ask[1]).longValue() < batch;
      if (late && !job.isCompleted()) {
        job.cancel();
      }
      if (late || job.isCompleted()) {
        each.remove();
      }
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
    private final AtomicLong astray;

    Told(AtomicLong astray) {
      this.astray = astray;
    }

    public Object apply(Object partition, Object here) {
      astray.addAndGet(Boolean.TRUE.equals(here) ? 0L : 1L);
      return BoxedUnit.UNIT;
    }
  }

  private static final class Done extends AbstractFunction0 {
    public Object apply() {
      return null;
    }
  }
}
