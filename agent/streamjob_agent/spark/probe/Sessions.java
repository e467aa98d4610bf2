package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.streaming.StreamingQueryManager;
import scala.collection.JavaConverters$;

/**
 * The sessions that are listened to, and the queries that run in any session of the application. A job may make a session
 * per batch: one is listened to from just before a query of it starts until a while after its last query has ended.
 */
final class Sessions {
  private static final long LINGER_NS = 60000000000L; // a query's newest events come some time after its end
  private final Registry registry;
  private final Binder binder;
  private final Hook hook;
  private final QueryListener listener;
  private final LocalityWait wait;
  private final Faults faults;
  private final ConcurrentHashMap running;
  private final ArrayList joined = new ArrayList(); // of Joined
  private Object home; // the session that the probe was attached with is listened to for ever

  private static final class Joined {
    Object session;
    long neededNs; // System.nanoTime() at which it was last known to have a query, or to get one
  }

  Sessions(Registry registry, Binder binder, Hook hook, QueryListener listener, LocalityWait wait, Faults faults,
      ConcurrentHashMap running) {
    this.registry = registry;
    this.binder = binder;
    this.hook = hook;
    this.listener = listener;
    this.wait = wait;
    this.faults = faults;
    this.running = running;
  }

  /** Looks at the queries that run: takes up those it has not seen start, lets ended ones go. */
  synchronized void look() throws Exception {
    List queries = registry.all();
    for (int i = 0; i < queries.size(); i++) {
      Tracked query = (Tracked) queries.get(i);
      synchronized (query) {
        if (!running.containsKey(UUID.fromString(query.id))) {
          query.ended();
          wait.over(query.id);
        }
      }
    }
    Iterator all = running.values().iterator();
    while (all.hasNext()) {
      Object execution = all.next();
      UUID id = (UUID) Reflect.call(execution, "id");
      UUID run = (UUID) Reflect.call(execution, "runId");
      Tracked known = registry.get(id.toString());
      if (known == null || !known.active || !run.equals(known.runId)) {
        join(Reflect.call(execution, "sparkSession"));
        Object own = own(execution);
        if (own != null) {
          addHook(own);
        }
        binder.found(id, run, (String) Reflect.call(execution, "name"));
      }
      Tracked query = registry.get(id.toString());
      if (query != null) {
        query.idle = !Stopper.active(execution);
        hook(query, run, execution);
      }
      need(Reflect.call(execution, "sparkSession"));
    }
    dropUnused();
  }

  /** A query seen for the first time, in whichever session: taken up at once, on a thread that may wait for its checkpoint. */
  void started(UUID id, UUID run) {
    Tracked known = registry.get(id.toString());
    if (known == null || !known.active || !run.equals(known.runId)) {
      Thread looking = new Thread(new Looking(), "streamjob-look");
      looking.setDaemon(true);
      looking.start();
    }
  }

  private final class Looking implements Runnable {
    public void run() {
      try {
        look();
      } catch (Throwable fault) {
        faults.caught("look", fault);
      }
    }
  }

  /**
   * A query plans its batches in a session of its own, a copy that was made when it began: one that began unseen has no
   * hook there. Where Spark does not show that session it is known from the first plan on, which may come long after the
   * query was found.
   */
  private void hook(Tracked query, UUID run, Object execution) throws Exception {
    if (run.equals(query.hookedRun)) {
      return;
    }
    Object own = own(execution);
    if (own != null) {
      addHook(own);
      query.hookedRun = run;
    }
  }

  private static Object own(Object execution) throws Exception {
    Object own = Reflect.callDeclared(execution, "sparkSessionForStream"); // private in Spark 3.5
    if (own != null) {
      return own;
    }
    Object last = Reflect.call(execution, "lastExecution");
    return last == null ? null : Reflect.call(last, "sparkSession");
  }

  /** Notes that a session has a query; whether it is listened to. */
  private boolean need(Object session) {
    for (int i = 0; i < joined.size(); i++) {
      if (((Joined) joined.get(i)).session == session) {
        ((Joined) joined.get(i)).neededNs = System.nanoTime();
        return true;
      }
    }
    return false;
  }

  private void dropUnused() throws Exception {
    for (int i = joined.size() - 1; i >= 0; i--) {
      Joined one = (Joined) joined.get(i);
      if (one.session != home && System.nanoTime() - one.neededNs > LINGER_NS) {
        joined.remove(i);
        leave(one.session);
      }
    }
  }

  /** Watches the queries of a session for ever. */
  synchronized void stay(Object session) throws Exception {
    home = session;
    join(session);
  }

  /** Watches the queries of one more session; to be called before one of them starts. */
  synchronized void join(Object session) throws Exception {
    if (need(session)) {
      return;
    }
    Joined one = new Joined();
    one.session = session;
    one.neededNs = System.nanoTime();
    joined.add(one);
    ((StreamingQueryManager) Reflect.call(session, "streams")).addListener(listener);
    addHook(session);
  }

  private void addHook(Object session) throws Exception {
    ArrayList rules = rules(session);
    if (!rules.contains(hook)) {
      rules.add(hook);
      setRules(session, rules);
    }
  }

  private void dropHook(Object session) throws Exception {
    ArrayList rules = session == null ? new ArrayList() : rules(session);
    if (rules.remove(hook)) {
      setRules(session, rules);
    }
  }

  /** Listens to none any more, and leaves nothing in the sessions of queries that go on. */
  synchronized void leave() {
    ArrayList all = new ArrayList(running.values());
    for (int i = 0; i < joined.size() + all.size(); i++) {
      try {
        if (i < joined.size()) {
          leave(((Joined) joined.get(i)).session);
        } else {
          dropHook(own(all.get(i - joined.size())));
        }
      } catch (Throwable fault) {
        faults.caught("leave", fault); // one that is gone already keeps no other from being left
      }
    }
    joined.clear();
  }

  private void leave(Object session) throws Exception {
    ((StreamingQueryManager) Reflect.call(session, "streams")).removeListener(listener);
    dropHook(session);
  }

  /** How many are listened to. */
  synchronized int count() {
    return joined.size();
  }

  private static ArrayList rules(Object session) throws Exception {
    ArrayList rules = new ArrayList();
    ExperimentalMethods methods = (ExperimentalMethods) Reflect.call(session, "experimental");
    scala.collection.Iterator each = methods.extraOptimizations().iterator();
    while (each.hasNext()) {
      rules.add(each.next());
    }
    return rules;
  }

  private static void setRules(Object session, ArrayList rules) throws Exception {
    ExperimentalMethods methods = (ExperimentalMethods) Reflect.call(session, "experimental");
    methods.extraOptimizations_$eq(JavaConverters$.MODULE$.asScalaBuffer(rules).toSeq());
  }
}
