package io.streamjob.probe;

import java.util.ArrayList;
import java.util.HashMap;
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

  /** Lines: query id, "between" or "inside" a batch, separated by a tab; queries started meanwhile are stopped, too. */
  String stopAll(long atMostMs) throws Exception {
    long until = System.nanoTime() + atMostMs * 1000000L;
    HashMap done = new HashMap(); // query id -> where it was stopped
    gate.close(2L * atMostMs);
    while (!running.isEmpty()) {
      boolean late = System.nanoTime() - until >= 0L;
      List all = new ArrayList(running.values());
      for (int i = 0; i < all.size(); i++) {
        Object execution = all.get(i);
        String id = String.valueOf(Reflect.call(execution, "id"));
        boolean between = gate.holds(id) || !active(execution);
        if (between || late) {
          done.put(id, between ? "between" : "inside");
          Reflect.call(execution, "stop");
        }
      }
      if (late) {
        break;
      }
      Thread.sleep(LOOK_MS);
    }
    return write(done);
  }

  /** Whether a batch is being made, or new data looked for. */
  static boolean active(Object execution) throws Exception {
    return ((Boolean) Reflect.call(Reflect.call(execution, "status"), "isTriggerActive")).booleanValue();
  }

  private static String write(HashMap done) {
    StringBuilder out = new StringBuilder();
    Iterator each = done.keySet().iterator();
    while (each.hasNext()) {
      Object id = each.next();
      out.append(id).append('\t').append(done.get(id)).append('\n');
    }
    return out.toString();
  }
}
