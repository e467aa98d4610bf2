package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;

/** What the Python side calls. Every answer is one text, or one of bytes: a call through py4j costs more than its work. */
public final class Probe implements AutoCloseable {
  private static final long LOOK_MS = 1000L; // between two looks while the agent waits
  private SparkContext context;
  private StateStoreCoordinatorRef coordinator;
  private ConcurrentHashMap running;
  private Registry registry;
  private Faults faults;
  private Fleet fleet;
  private Ahead ahead;
  private Registrar registrar;
  private Removal removal;
  private LocalityWait wait;
  private Plans plans;
  private Meter meter;
  private Binder binder;
  private Boundaries boundaries;
  private Gathering gathering;
  private StateSizes sizes;
  private Hook hook;
  private Stopper stopper;
  private CoreListener core;
  private Receiver receiver;
  private Listening listening;
  private QueryListener listener;
  private Sessions sessions;
  private volatile String told = ""; // what was described last

  /** Builds the parts; nothing is attached to Spark yet. */
  public void open(SparkContext spark, Object session) throws Exception {
    context = spark;
    Object manager = Reflect.call(Reflect.call(session, "sessionState"), "streamingQueryManager");
    coordinator = (StateStoreCoordinatorRef) Reflect.call(manager, "stateStoreCoordinator");
    running = (ConcurrentHashMap) Reflect.call(Reflect.call(session, "sharedState"), "activeStreamingQueries");
    registry = new Registry();
    faults = new Faults();
    fleet = new Fleet(spark);
    ahead = new Ahead(spark, fleet, faults);
    gathering = new Gathering();
    wait = new LocalityWait(spark, new OtherWaits(spark, faults));
    registrar = new Registrar(fleet, registry, coordinator, ahead, gathering, wait);
    removal = new Removal(spark, fleet, registrar, running, faults);
    plans = new Plans(registry, registrar, running, new Pins(spark.version()));
    meter = new Meter(plans);
    binder = new Binder(registry, registrar, running);
    boundaries = new Boundaries();
    receiver = new Receiver(gathering);
    sizes = new StateSizes();
    Gate gate = new Gate(faults);
    hook = new Hook(spark, registry, registrar, plans, wait, faults, gate, running);
    stopper = new Stopper(gate, running);
    listener = new QueryListener(binder, wait, faults);
    sessions = new Sessions(registry, binder, hook, listener, wait, faults, running);
    core = new CoreListener(fleet, registry, registrar, plans, meter, boundaries, gathering, wait, sessions,
        faults);
    listening = new Listening(gathering, core, meter, faults);
  }

  /** From now on stores of groups that move are opened ahead, by this class of a jar that executors get. */
  public void openAhead(Class type, Map classes) throws Exception {
    ahead.offer(type, classes);
  }

  /** Starts listening. */
  public void attach(Object session) throws Exception {
    listening.start();
    context.listenerBus().addToManagementQueue(receiver);
    fleet.seed();
    sessions.stay(session);
    sessions.look();
  }

  /** Watches the queries of one more session; to be called before one of them starts. */
  public void join(Object session) throws Exception {
    sessions.join(session);
  }

  public void close() {
    if (core == null) {
      return; // it was never opened
    }
    boundaries.wake();
    registrar.on = false;
    hook.open = false;
    listener.open = false;
    wait.close();
    context.listenerBus().removeListener(receiver);
    gathering.close();
    sessions.leave();
  }

  public void actuate(boolean on) {
    registrar.on = on;
    List queries = registry.all();
    for (int i = 0; on && i < queries.size(); i++) {
      Tracked query = (Tracked) queries.get(i);
      registrar.spread(query);
      registrar.boundary(query);
    }
  }

  /** Text and rows, see Drained. */
  public String drain() throws Exception {
    listening.now();
    Drained out = new Drained();
    meter.drain(out);
    List queries = registry.all();
    for (int i = 0; i < queries.size(); i++) {
      ((Tracked) queries.get(i)).writeGiven(out.text);
    }
    return out.encoded();
  }

  /** Live executors and active queries. */
  public String describe() throws Exception {
    String now = description();
    told = now;
    return now;
  }

  private String description() throws Exception {
    sessions.look();
    registrar.leavers();
    StringBuilder out = new StringBuilder();
    fleet.write(out);
    List queries = registry.all();
    for (int i = 0; i < queries.size(); i++) {
      if (((Tracked) queries.get(i)).active) {
        ((Tracked) queries.get(i)).write(out);
      }
    }
    return out.toString();
  }

  /** Faults by place, and the probe's own work. */
  public String diagnostics() {
    StringBuilder out = new StringBuilder();
    faults.write(out);
    out.append("T\thook_ns\t").append(hook.nanos.get()).append("\nT\tlistener_ns\t").append(core.nanos.get());
    out.append("\nT\tbatches\t").append(hook.batches.get()).append("\nT\tregistered\t").append(registrar.registered.get());
    out.append("\nT\tguarded\t").append(registrar.guarded.get());
    out.append("\nT\tahead\t").append(ahead.asked.get()).append("\nT\tastray\t").append(ahead.astray.get());
    out.append("\nT\tgathered\t").append(gathering.gathered());
    out.append("\nT\tsessions\t").append(sessions.count()).append('\n');
    return out.toString();
  }

  /** Lines "operator, then executor ids of partitions 0..", separated by tabs; empty means leave. */
  public void place(String queryId, String lines) {
    Tracked query = registry.get(queryId);
    if (query == null || !registrar.on) {
      return;
    }
    boolean moves = false;
    String[] rows = lines.split("\n");
    synchronized (query) {
      for (int r = 0; r < rows.length; r++) {
        String[] cells = rows[r].split("\t", -1);
        Operator operator = query.operator(Integer.parseInt(cells[0]));
        for (int p = 0; operator != null && p < operator.partitions && p + 1 < cells.length; p++) {
          if (cells[p + 1].length() > 0 && fleet.host(cells[p + 1]) != null) {
            moves |= operator.want(p, cells[p + 1]);
            query.given.remove(operator.id + "\t" + p); // the brain's word is the newer one
          }
        }
      }
    }
    if (moves && ahead.serves(query)) {
      gathering.moves();
    }
    registrar.registerNew(query);
    registrar.prepare(query);
  }

  /** Lines "operator, then ranks of partitions 0..": groups of one rank shared an executor of an earlier driver. */
  public void remember(String queryId, String lines) {
    HashMap ranks = new HashMap();
    String[] rows = lines.split("\n");
    for (int r = 0; r < rows.length; r++) {
      String[] cells = rows[r].split("\t", -1);
      int[] row = new int[cells.length - 1];
      for (int p = 0; p < row.length; p++) {
        row[p] = cells[p + 1].length() == 0 ? -1 : Integer.parseInt(cells[p + 1]);
      }
      ranks.put(Integer.valueOf(cells[0]), row);
    }
    registry.remember(queryId, ranks);
    Tracked query = registry.get(queryId);
    if (query != null) {
      synchronized (query) {
        query.ranks = ranks;
        query.spreadOver = null; // before its first batch it is spread anew
      }
    }
  }

  public void mark(String ids) {
    fleet.mark(ids.length() == 0 ? new HashSet() : new HashSet(Arrays.asList(ids.split(","))));
  }

  /**
   * Waits for a batch's end, at most `timeoutMs`: until ends differ from `seen`, somebody wakes, a batch that runs has more rows
   * than the one before, or a look, one each second, finds that `describe` would tell something else than it did last, or a
   * drain of owners that were given here. Ends so far, a tab, and 1 where there is more rows or such a look, else 0.
   */
  public String waitForBatch(long seen, long timeoutMs) throws Exception {
    boolean over;
    boolean differs;
    long left = timeoutMs;
    do {
      over = boundaries.await(seen, Math.min(left, LOOK_MS));
      differs = boundaries.told() || !over && differs();
      left -= LOOK_MS;
    } while (!over && !differs && left > 0L);
    return boundaries.count() + (differs ? "\t1" : "\t0");
  }

  /** Ends the agent's wait. */
  public void wake() {
    boundaries.wake();
  }

  private boolean differs() throws Exception {
    boolean differs = !description().equals(told);
    List queries = registry.all();
    for (int i = 0; !differs && i < queries.size(); i++) {
      differs = ((Tracked) queries.get(i)).hasGiven();
    }
    return differs;
  }

  /** For the end of the program: queries that start later are held before their first batch. */
  public String stopQueries(long atMostMs) throws Exception {
    return stopper.stopAll(atMostMs);
  }

  public boolean localityWait(long millis) {
    return wait.tune(millis);
  }

  public boolean requestExecutors(int total) {
    return context.requestTotalExecutors(total, 0, new scala.collection.immutable.HashMap());
  }

  public boolean decommission(String id) throws Exception {
    return removal.remove(id);
  }

  /** Lines: operator, then the bytes of partitions 0.., separated by tabs; empty where it takes longer than may be. */
  public String stateBytes(String queryId, long atMostMs) throws Exception {
    long until = System.nanoTime() + atMostMs * 1000000L;
    StringBuilder out = new StringBuilder();
    Tracked query = registry.get(queryId);
    if (query != null) {
      sizes.write(query, until, out);
    }
    return out.toString();
  }

  /**
   * The heaviest pairs, lines P: from operator, from partition, to operator, to partition, bytes; and all that each group
   * sends, lines A: operator, partition, bytes, groups that get any.
   */
  public String traffic(String queryId, long least, int most) throws Exception {
    StringBuilder out = new StringBuilder();
    Tracked query = registry.get(queryId);
    if (query != null && most > 0) {
      Traffic traffic = new Traffic(least, most);
      MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) Reflect.call(context.taskScheduler(), "mapOutputTracker");
      HashMap links; // the query's thread waits for its monitor before each batch, and a shuffle may have millions of cells
      TreeMap operators;
      synchronized (query) {
        links = new HashMap(query.links);
        operators = new TreeMap(query.operators);
      }
      Iterator each = links.keySet().iterator();
      while (each.hasNext()) {
        String link = (String) each.next();
        int space = link.indexOf(' ');
        Operator from = (Operator) operators.get(Integer.valueOf(link.substring(0, space)));
        Operator to = (Operator) operators.get(Integer.valueOf(link.substring(space + 1)));
        if (from != null && to != null) {
          int[] where = (int[]) links.get(link);
          traffic.collect(tracker, where[0], where[1], from, to);
        }
      }
      traffic.write(out);
    }
    return out.toString();
  }

  /** Lines: executor, the most bytes that it has used, the most of its JVM outside the heap. */
  public String memory() {
    StringBuilder out = new StringBuilder();
    Memory.write(context, out);
    return out.toString();
  }

  /** The plan of a query's batches and what they measured: see Shape and Shapes. */
  public String shape(String queryId) throws Exception {
    Tracked query = registry.get(queryId);
    Shape newest = query == null ? null : query.shapes.newest();
    sessions.look();
    if (query != null && query.idle) {
      query.shapes.rests(newest);
    }
    return query == null ? "" : query.shapes.write();
  }

  /** Registers a store that no query has, asks for it, and takes it away again. */
  public String roundTrip() {
    UUID run = UUID.randomUUID();
    StateStoreProviderId id = new StateStoreProviderId(new StateStoreId("streamjob-self-test", 0L, 0, "default"), run);
    try {
      coordinator.reportActiveInstance(id, "localhost", "streamjob-self-test", Registrar.NOTHING);
      String there = String.valueOf(Reflect.orNull(coordinator.getLocation(id)));
      if (!"executor_localhost_streamjob-self-test".equals(there)) {
        return "the state store coordinator answered " + there + " after a registration";
      }
    } finally {
      coordinator.deactivateInstances(run);
    }
    return Reflect.orNull(coordinator.getLocation(id)) == null ? "ok" : "a registration could not be taken back";
  }

  /** Owners as the coordinator has them, for tests and diagnosis: lines "operator partition location". */
  public String locations(String queryId) {
    StringBuilder out = new StringBuilder();
    Tracked query = registry.get(queryId);
    ArrayList operators = new ArrayList();
    synchronized (query) {
      operators.addAll(query.operators.values());
    }
    for (int i = 0; i < operators.size(); i++) {
      Operator operator = (Operator) operators.get(i);
      for (int p = 0; p < operator.partitions; p++) {
        for (int s = 0; s < operator.stores.size(); s++) {
          Object[] store = (Object[]) operator.stores.get(s);
          StateStoreId id = new StateStoreId(query.root, ((Long) store[0]).longValue(), p, (String) store[1]);
          Object place = Reflect.orNull(coordinator.getLocation(new StateStoreProviderId(id, query.runId)));
          out.append(operator.id).append('\t').append(p).append('\t').append(store[0]).append('\t').append(store[1]);
          out.append('\t').append(place).append('\n');
        }
      }
    }
    return out.toString();
  }
}
