package io.streamjob.probe;

import java.util.ArrayDeque;
import java.util.Iterator;

/** What the newest batches of one query measured on one plan; a new plan begins anew. Guarded by its own monitor. */
final class Shapes {
  private static final int MOST = 100;
  private String text = "";
  private Shape newest;
  private final ArrayDeque batches = new ArrayDeque(); // long[] of each batch that has ended, oldest first

  /** Called when a batch begins: the one before has ended. */
  synchronized void began(Shape shape) {
    if (newest != null) {
      ended(newest);
    }
    newest = shape;
  }

  private void ended(Shape shape) {
    if (!shape.text().equals(text)) {
      text = shape.text();
      batches.clear();
    }
    batches.add(shape.values());
    if (batches.size() > MOST) {
      batches.poll();
    }
  }

  synchronized Shape newest() {
    return newest;
  }

  /** Takes in the newest batch, if it is still `known`, once the query rests. */
  synchronized void rests(Shape known) {
    if (known != null && known == newest) {
      ended(newest);
      newest = null;
    }
  }

  /** The plan's lines, then "B", the number of batches, and the sums over them in the order of the plan's metrics. */
  synchronized String write() {
    StringBuilder out = new StringBuilder(text);
    long[] sums = batches.isEmpty() ? new long[0] : new long[((long[]) batches.peek()).length];
    Iterator each = batches.iterator();
    while (each.hasNext()) {
      long[] values = (long[]) each.next();
      for (int i = 0; i < sums.length; i++) {
        sums[i] = values[i] < 0L ? -1L : sums[i] + values[i];
      }
    }
    out.append("B\t").append(batches.size());
    for (int i = 0; i < sums.length; i++) {
      out.append('\t').append(sums[i]);
    }
    return out.append('\n').toString();
  }
}
