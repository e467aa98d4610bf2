package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.streaming.StreamingQueryManager;
import scala.collection.JavaConverters$;

/** The sessions that are listened to, and the queries that run in any session of the application. */
final class Sessions {
  private final Registry registry;
  private final Binder binder;
  private final Hook hook;
  private final QueryListener listener;
  private final ConcurrentHashMap running;
  private final ArrayList joined = new ArrayList();

  Sessions(Registry registry, Binder binder, Hook hook, QueryListener listener, ConcurrentHashMap running) {
    this.registry = registry;
    this.binder = binder;
    this.hook = hook;
    this.listener = listener;
    this.running = running;
  }

  /** Looks at the queries that run: takes up those it has not seen start, lets ended ones go. */
  synchronized void look() throws Exception {
    List queries = registry.all();
    for (int i = 0; i < queries.size(); i++) {
      Tracked query = (Tracked) queries.get(i);
      query.active = query.active && running.containsKey(UUID.fromString(query.id));
    }
    Iterator all = running.values().iterator();
    while (all.hasNext()) {
      Object execution = all.next();
      UUID id = (UUID) Reflect.call(execution, "id");
      UUID run = (UUID) Reflect.call(execution, "runId");
      Tracked known = registry.get(id.toString());
      if (known == null || !known.active || !run.equals(known.runId)) {
        join(Reflect.call(execution, "sparkSession"));
        binder.found(id, run, (String) Reflect.call(execution, "name"));
        Object last = Reflect.call(execution, "lastExecution");
        if (last != null) {
          addHook(Reflect.call(last, "sparkSession"));
        }
      }
      Tracked query = registry.get(id.toString());
      if (query != null) {
        query.idle = !Stopper.active(execution);
      }
    }
  }

  /** Watches the queries of one more session from their first batch on. */
  synchronized void join(Object session) throws Exception {
    for (int i = 0; i < joined.size(); i++) {
      if (joined.get(i) == session) {
        return;
      }
    }
    joined.add(session);
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
    ArrayList rules = rules(session);
    if (rules.remove(hook)) {
      setRules(session, rules);
    }
  }

  /** Listens to none any more. */
  synchronized void leave() throws Exception {
    for (int i = 0; i < joined.size(); i++) {
      ((StreamingQueryManager) Reflect.call(joined.get(i), "streams")).removeListener(listener);
      dropHook(joined.get(i));
    }
    joined.clear();
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
