package io.streamjob.probe;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** Stops every query between two of its batches: while it waits for data or its trigger, or held at the gate. */
final class Stopper {
  private static final long LOOK_MS = 5L;
  private final Gate gate;
  private final ConcurrentHashMap running;

  Stopper(Gate gate, ConcurrentHashMap running) {
    this.gate = gate;
    this.running = running;
  }

  /**
   * Lines: query id, "between" or "inside" a batch, or what went wrong, separated by a tab; queries started meanwhile are
   * stopped, too. A stop waits for its query's end, for ever or until it throws: each has a thread of its own.
   */
  String stopAll(long atMostMs) throws Exception {
    long until = System.nanoTime() + atMostMs * 1000000L;
    IdentityHashMap begun = new IdentityHashMap(); // execution -> its Stop: one that started anew has another
    gate.close(2L * atMostMs);
    boolean late = false;
    while (!running.isEmpty() && !(late && over(begun))) {
      late = System.nanoTime() - until >= 0L;
      List all = new ArrayList(running.values());
      for (int i = 0; i < all.size(); i++) {
        Object execution = all.get(i);
        if (!begun.containsKey(execution)) {
          String id = String.valueOf(Reflect.call(execution, "id"));
          boolean between = gate.holds(id) || !active(execution);
          if (between || late) {
            begun.put(execution, new Stop(id, execution, between ? "between" : "inside"));
          }
        }
      }
      Thread.sleep(LOOK_MS);
    }
    return write(begun);
  }

  /** Whether a batch is being made, or new data looked for. */
  static boolean active(Object execution) throws Exception {
    return ((Boolean) Reflect.call(Reflect.call(execution, "status"), "isTriggerActive")).booleanValue();
  }

  private static boolean over(IdentityHashMap begun) {
    boolean over = true;
    for (Iterator each = begun.values().iterator(); each.hasNext(); ) {
      over &= !((Stop) each.next()).isAlive();
    }
    return over;
  }

  private static String write(IdentityHashMap begun) {
    StringBuilder out = new StringBuilder();
    for (Iterator each = begun.values().iterator(); each.hasNext(); ) {
      Stop stop = (Stop) each.next();
      out.append(stop.id).append('\t').append(stop.outcome).append('\n');
    }
    return out.toString();
  }

  private static final class Stop extends Thread {
    final String id;
    volatile String outcome;
    private final Object execution;

    Stop(String id, Object execution, String where) {
      super("streamjob-stop-" + id);
      this.id = id;
      this.execution = execution;
      this.outcome = where;
      setDaemon(true);
      start();
    }

    @Override
    public void run() {
      try {
        Reflect.call(execution, "stop");
      } catch (Throwable refused) {
        outcome = Faults.words(refused);
      }
    }
  }
}
