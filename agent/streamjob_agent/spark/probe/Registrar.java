package io.streamjob.probe;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.sql.execution.streaming.state.StateStoreCoordinatorRef;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import scala.collection.immutable.Nil$;

/**
 * Registers key groups where they are wanted, before each batch. Where that is, the brain says; what cannot wait for it is
 * done here: owners for a query's first batch, and new ones at once for groups whose executor is gone. Both are reported to
 * the brain, which takes them over, so that there is one wish.
 */
final class Registrar {
  static final scala.collection.immutable.List NOTHING = (scala.collection.immutable.List) (Object) Nil$.MODULE$;
  volatile boolean on;
  final AtomicLong registered = new AtomicLong();
  final AtomicLong guarded = new AtomicLong();
  private final Fleet fleet;
  private final Registry registry;
  private final StateStoreCoordinatorRef coordinator;
  private final Ahead ahead;
  private final Gathering gathering;
  private final LocalityWait wait;

  Registrar(Fleet fleet, Registry registry, StateStoreCoordinatorRef coordinator, Ahead ahead, Gathering gathering,
      LocalityWait wait) {
    this.fleet = fleet;
    this.registry = registry;
    this.coordinator = coordinator;
    this.ahead = ahead;
    this.gathering = gathering;
    this.wait = wait;
  }

  /** Gives every group without an owner one. */
  void spread(Tracked query) {
    List ids = fleet.placeable();
    if (ids.isEmpty()) {
      return;
    }
    synchronized (query) {
      if (!query.planned && !query.adopted && !ids.equals(query.spreadOver)) {
        query.forgetOwners(); // executors that came while the query was starting take part, too
        query.spreadOver = ids;
      }
      query.report(new Spread(query, ids).fill());
    }
  }

  /** Takes over the owners that Spark has: state that is loaded stays where it is. */
  void adopt(Tracked query) {
    synchronized (query) {
      Iterator each = query.operators.values().iterator();
      while (each.hasNext()) {
        Operator operator = (Operator) each.next();
        for (int p = 0; p < operator.partitions; p++) {
          String owner = operator.owner(p) == null ? holder(query, operator, p) : null;
          if (owner != null && fleet.host(owner) != null) {
            operator.want(p, owner);
            query.report(operator, p);
          }
        }
      }
    }
  }

  /** The executor that has one of the group's stores open, null when nobody has. */
  private String holder(Tracked query, Operator operator, int partition) {
    String place = null;
    for (int i = 0; place == null && i < operator.stores.size(); i++) {
      Object[] store = (Object[]) operator.stores.get(i);
      StateStoreId id = new StateStoreId(query.root, ((Long) store[0]).longValue(), partition, (String) store[1]);
      place = (String) Reflect.orNull(coordinator.getLocation(new StateStoreProviderId(id, query.runId)));
    }
    return place == null ? null : place.substring(place.lastIndexOf('_') + 1);
  }

  /** Before a batch: no group on a lost executor, and every unsettled group registered. */
  void boundary(Tracked query) {
    if (!on) {
      return;
    }
    fleet.dropUnknown();
    leavers();
    Iterator owners = query.owners().iterator();
    while (owners.hasNext()) {
      String owner = (String) owners.next();
      if (fleet.host(owner) == null) {
        rescue(query, owner);
      }
    }
    register(query, true);
  }

  /** Whoever is offered no task since the last look gives its groups away. */
  void leavers() {
    List lost = fleet.leavers();
    for (int i = 0; i < lost.size(); i++) {
      guard((String) lost.get(i));
    }
  }

  /** An executor is gone, going or offered no task: its groups of every query get new owners at once. */
  void guard(String executor) {
    List queries = registry.all();
    for (int i = 0; i < queries.size(); i++) {
      Tracked query = (Tracked) queries.get(i);
      if (query.active && query.has(executor)) {
        wait.lost();
      }
      if (on && rescue(query, executor) > 0 && query.active) {
        registerNew(query);
      }
    }
  }

  private int rescue(Tracked query, String executor) {
    List ids = fleet.placeable();
    if (ids.isEmpty()) {
      return 0;
    }
    synchronized (query) {
      List moved = new Rescue(query, ids).from(executor);
      if (!moved.isEmpty() && ahead.serves(query)) {
        gathering.moves();
      }
      query.report(moved);
      guarded.addAndGet(moved.size());
      return moved.size();
    }
  }

  /** Registers those that are wanted elsewhere than they were registered since their newest task ended. */
  void registerNew(Tracked query) {
    register(query, false);
  }

  /**
   * Registers every unsettled group of an active query whose wanted owner is alive; `again`: those, too, that are registered
   * there, as a task under way may have told Spark another place since.
   */
  private void register(Tracked query, boolean again) {
    ArrayList work = new ArrayList();
    UUID run;
    String root;
    synchronized (query) {
      run = query.runId;
      root = query.root;
      if (!on || !query.active || root == null) {
        return;
      }
      Iterator each = query.operators.values().iterator();
      while (each.hasNext()) {
        collect((Operator) each.next(), work, ahead.serves(query), again);
      }
    }
    // The calls go through Spark's local RPC: they are made outside the monitor, so that the listener is not held up.
    for (int i = 0; i < work.size(); i++) {
      Object[] item = (Object[]) work.get(i);
      report(root, run, (Operator) item[0], ((Integer) item[1]).intValue(), (String) item[2]);
    }
  }

  /** A batch of a query begins, or its run is over: none of that number or a later one comes. */
  void begins(UUID run, long batch) {
    ahead.begins(run, batch);
  }

  /** Groups that will move after their next task are told of; not on the query's own thread, nor on the listener's. */
  void prepare(Tracked query) {
    HashSet operators = new HashSet();
    HashSet executors = new HashSet();
    synchronized (query) {
      Iterator each = on && query.active && ahead.serves(query) ? query.operators.values().iterator() : operators.iterator();
      while (each.hasNext()) {
        Operator operator = (Operator) each.next();
        for (int p = 0; p < operator.partitions; p++) {
          if (operator.stays(p) != null) {
            operators.add(operator);
            executors.add(operator.wanted[p]);
          }
        }
      }
    }
    ahead.prepare(query, operators, executors);
  }

  /** Those whose task has ended elsewhere in the batch that runs; each is {Tracked, Operator, partition, version}. */
  void left(List groups) {
    for (int i = 0; on && i < groups.size(); i++) {
      Object[] group = (Object[]) groups.get(i);
      Tracked query = (Tracked) group[0];
      if (ahead.serves(query)) {
        Operator operator = (Operator) group[1];
        int partition = ((Integer) group[2]).intValue();
        register(query, operator, partition);
        ahead.open(query, operator, partition, ((Long) group[3]).longValue());
      }
    }
  }

  /** `ahead`: a group that a live executor has moves once its next task there has ended. */
  private void collect(Operator operator, List work, boolean ahead, boolean again) {
    for (int p = 0; p < operator.partitions; p++) {
      String wanted = operator.wanted[p];
      String stays = ahead ? operator.stays(p) : null;
      boolean waits = stays != null && fleet.host(stays) != null;
      boolean due = wanted != null && !operator.settled[p] && (again || !wanted.equals(operator.registered[p]));
      if (due && !waits && fleet.host(wanted) != null) {
        work.add(new Object[] {operator, Integer.valueOf(p), wanted});
      }
    }
  }

  private void register(Tracked query, Operator operator, int partition) {
    UUID run;
    String root;
    String wanted;
    synchronized (query) {
      run = query.runId;
      root = query.active ? query.root : null;
      wanted = operator.wanted[partition];
    }
    if (root != null && wanted != null) {
      report(root, run, operator, partition, wanted);
    }
  }

  private void report(String root, UUID run, Operator operator, int partition, String executor) {
    String host = fleet.host(executor);
    for (int i = 0; host != null && i < operator.stores.size(); i++) {
      Object[] store = (Object[]) operator.stores.get(i);
      long id = ((Long) store[0]).longValue();
      StateStoreId storeId = new StateStoreId(root, id, partition, (String) store[1]);
      coordinator.reportActiveInstance(new StateStoreProviderId(storeId, run), host, executor, NOTHING);
      registered.incrementAndGet();
      operator.registered[partition] = executor;
    }
  }
}
