package io.streamjob.probe;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** Binds a started query to what is known of it, and guesses its stateful operators before its first batch. */
final class Binder {
  private static final String[] STATEFUL = {
    "Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "Distinct", "FlatMapGroupsWithState",
    "FlatMapGroupsInPandasWithState", "TransformWithState", "TransformWithStateInPandas", "TransformWithStateInPySpark",
    "GlobalLimit", "Join", "LegacyDeduplicate"
  };
  private static final String[] PARTITIONS = {
    "spark.sql.streaming.internal.stateStore.partitions", "spark.sql.shuffle.partitions"
  };
  static final String[] JOIN_STORES = {
    "left-keyToNumValues", "left-keyWithIndexToValue", "right-keyToNumValues", "right-keyWithIndexToValue"
  };
  private final Registry registry;
  private final Registrar registrar;
  private final ConcurrentHashMap running;

  Binder(Registry registry, Registrar registrar, ConcurrentHashMap running) {
    this.registry = registry;
    this.registrar = registrar;
    this.running = running;
  }

  /** Called on the query's own thread before batch 0 of a run: its groups get owners before any task exists. */
  void started(UUID id, UUID run, String name) throws Exception {
    bind(id, run, name, true, false);
  }

  /** A run that began unseen: once it has finished a batch, its groups have owners already. */
  void found(UUID id, UUID run, String name) throws Exception {
    Object execution = running.get(id);
    bind(id, run, name, false, execution != null && Reflect.call(execution, "lastProgress") != null);
  }

  private void bind(UUID id, UUID run, String name, boolean first, boolean adopted) throws Exception {
    Object execution = running.get(id);
    if (execution == null) {
      return;
    }
    Tracked query = registry.obtain(id.toString());
    if (query.takes(run, first)) {
      boolean done = false;
      try {
        bind(query, execution, name, adopted);
        done = true;
      } finally {
        if (!done) {
          query.gives();
        }
      }
    }
  }

  private void bind(Tracked query, Object execution, String name, boolean adopted) throws Exception {
    String root = String.valueOf(Reflect.call(execution, "resolvedCheckpointRoot"));
    Object state = Reflect.call(Reflect.call(execution, "sparkSession"), "sessionState");
    Configuration hadoop = (Configuration) Reflect.call(state, "newHadoopConf");
    // The checkpoint is read outside the query's monitor, for which its own thread and Spark's listeners wait.
    TreeMap guessed = query.knowsOperators() ? new TreeMap() : guess(execution, hadoop, root);
    synchronized (query) {
      query.name = name;
      query.root = new Path(new Path(root), "state").toString(); // as Spark writes it: that of s3a://bucket/ has one slash
      query.far = isFar(root);
      query.hadoop = hadoop;
      query.triggerMs = triggerMs(Reflect.call(execution, "trigger"));
      query.active = true;
      query.adopted = adopted;
      if (query.operators.isEmpty()) {
        query.operators.putAll(guessed);
      }
    }
    if (adopted) {
      registrar.adopt(query);
    }
    registrar.spread(query);
    registrar.boundary(query);
  }

  /** Called some milliseconds after a batch's end: too late for the next one at times, so it only backs the hook up. */
  void progressed(UUID id) {
    Tracked query = registry.get(id.toString());
    if (query != null) {
      registrar.boundary(query);
    }
  }

  void terminated(UUID id, UUID run) {
    Tracked query = registry.get(id.toString());
    if (query != null) {
      synchronized (query) {
        if (run.equals(query.runId)) {
          query.ended();
        }
      }
      registrar.begins(run, Long.MAX_VALUE);
    }
  }

  private static boolean isFar(String root) {
    String scheme = new Path(root).toUri().getScheme();
    return scheme != null && !"file".equals(scheme);
  }

  private static long triggerMs(Object trigger) throws Exception {
    return Reflect.has(trigger, "intervalMs") ? Reflect.callLong(trigger, "intervalMs") : 0L;
  }

  /** An upper bound of the operators: a store registered for an operator that does not exist is never asked for. */
  private static TreeMap guess(Object execution, Configuration hadoop, String root) throws Exception {
    int[] found = new int[2];
    count((LogicalPlan) Reflect.call(execution, "analyzedPlan"), found);
    int partitions = partitions(execution, hadoop, root);
    TreeMap operators = new TreeMap(); // Integer -> Operator
    for (int id = 0; id < found[0]; id++) {
      Operator operator = new Operator(id, partitions);
      operator.addStore(id, "default");
      for (int i = 0; found[1] > 0 && i < JOIN_STORES.length; i++) {
        operator.addStore(id, JOIN_STORES[i]);
      }
      operators.put(Integer.valueOf(id), operator);
    }
    return operators;
  }

  private static void count(LogicalPlan plan, int[] found) {
    String kind = plan.getClass().getSimpleName();
    for (int i = 0; plan.isStreaming() && i < STATEFUL.length; i++) {
      if (STATEFUL[i].equals(kind)) {
        found[0]++;
        found[1] += "Join".equals(kind) ? 1 : 0;
      }
    }
    scala.collection.Iterator children = plan.children().iterator();
    while (children.hasNext()) {
      count((LogicalPlan) children.next(), found);
    }
  }

  /** Partitions of the state: fixed by the checkpoint's offset log once there is one, else by the session. */
  private static int partitions(Object execution, Configuration hadoop, String root) throws Exception {
    String offsets = newestOffsets(hadoop, root);
    for (int i = 0; offsets != null && i < PARTITIONS.length; i++) {
      Matcher found = Pattern.compile("\"" + Pattern.quote(PARTITIONS[i]) + "\"\\s*:\\s*\"(\\d+)\"").matcher(offsets);
      if (found.find()) {
        return Integer.parseInt(found.group(1));
      }
    }
    Object session = Reflect.call(execution, "sparkSession");
    Object state = Reflect.call(session, "sessionState");
    return (int) Reflect.callLong(Reflect.call(state, "conf"), "numShufflePartitions");
  }

  private static String newestOffsets(Configuration hadoop, String root) throws Exception {
    Path folder = new Path(root, "offsets");
    Storage storage = new Storage(folder, hadoop);
    try {
      return newest(storage.files, folder);
    } finally {
      storage.leave();
    }
  }

  private static String newest(FileSystem files, Path folder) throws Exception {
    if (!files.exists(folder)) {
      return null;
    }
    FileStatus newest = null;
    FileStatus[] all = files.listStatus(folder);
    for (int i = 0; i < all.length; i++) {
      String name = all[i].getPath().getName();
      boolean batch = name.matches("\\d{1,18}");
      if (batch && (newest == null || Long.parseLong(name) > Long.parseLong(newest.getPath().getName()))) {
        newest = all[i];
      }
    }
    return newest == null ? null : read(files.open(newest.getPath()));
  }

  static String read(InputStream stream) throws Exception {
    try {
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      byte[] buffer = new byte[8192];
      int length = stream.read(buffer);
      while (length >= 0 && text.size() < 4000000) {
        text.write(buffer, 0, length);
        length = stream.read(buffer);
      }
      return text.toString("UTF-8");
    } finally {
      stream.close();
    }
  }
}
