package io.streamjob.probe;

import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/**
 * An optimizer rule that changes nothing: Spark runs it on the query's own thread while it plans a batch, after the last task
 * of the batch before and before the first of this one. No listener is called at that moment.
 */
public final class Hook extends Rule {
  static final String QUERY = "sql.streaming.queryId";
  static final String BATCH = "streaming.sql.batchId";
  private final SparkContext context;
  private final Registry registry;
  private final Registrar registrar;
  private final Plans plans;
  private final LocalityWait wait;
  private final Faults faults;
  private final Gate gate;
  private final ConcurrentHashMap running;
  final AtomicLong nanos = new AtomicLong();
  final AtomicLong batches = new AtomicLong();
  volatile boolean open = true;

  Hook(SparkContext context, Registry registry, Registrar registrar, Plans plans, LocalityWait wait, Faults faults,
      Gate gate, ConcurrentHashMap running) {
    this.context = context;
    this.registry = registry;
    this.registrar = registrar;
    this.plans = plans;
    this.wait = wait;
    this.faults = faults;
    this.gate = gate;
    this.running = running;
  }

  public TreeNode apply(TreeNode plan) {
    String id = null;
    Planned begins = null;
    try {
      id = open ? context.getLocalProperty(QUERY) : null;
      begins = id != null ? planning(id) : null;
    } catch (Throwable fault) {
      faults.caught("hook", fault);
    }
    if (begins != null) {
      gate.pass(id, begins);
    }
    return plan;
  }

  /** The batch that begins; null for what else its thread plans, such as the job's own code in the batch. */
  private Planned planning(String id) throws Exception {
    long from = System.nanoTime();
    Tracked query = registry.get(id);
    Object execution = running.get(UUID.fromString(id));
    if (query == null || execution == null) {
      return null;
    }
    String number = context.getLocalProperty(BATCH);
    if (!query.begins(number == null ? -1L : Long.parseLong(number))) {
      return null;
    }
    if (number != null) {
      registrar.begins(query.runId, Long.parseLong(number));
    }
    plans.note(query, execution);
    registrar.spread(query);
    registrar.boundary(query);
    if (registrar.on && !query.owners().isEmpty()) {
      wait.begin(id, query.runId + " " + number);
    }
    batches.incrementAndGet();
    nanos.addAndGet(System.nanoTime() - from);
    return new Planned(execution, number, query.later());
  }
}
