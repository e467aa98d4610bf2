package io.streamjob.probe;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/** What the key groups of one query took since the last drain. Guarded by the meter's monitor. */
final class Groups {
  private final TreeMap operators = new TreeMap(); // Integer -> Usage[] by partition, null where there is nothing to tell
  private int count;

  int count() {
    return count;
  }

  /** Null where nothing was added since the last drain. */
  Usage get(int operator, int partition) {
    Usage[] row = (Usage[]) operators.get(Integer.valueOf(operator));
    return row == null || partition >= row.length ? null : row[partition];
  }

  Usage add(int operator, int partition, int partitions) {
    Usage[] row = (Usage[]) operators.get(Integer.valueOf(operator));
    if (row == null || row.length < partitions) {
      row = row == null ? new Usage[partitions] : (Usage[]) Arrays.copyOf(row, partitions);
      operators.put(Integer.valueOf(operator), row);
    }
    count++;
    row[partition] = new Usage();
    return row[partition];
  }

  /** A batch has ended. */
  void close() {
    Iterator each = operators.values().iterator();
    while (each.hasNext()) {
      Usage[] row = (Usage[]) each.next();
      for (int p = 0; p < row.length; p++) {
        if (row[p] != null) {
          row[p].close();
        }
      }
    }
  }

  /** The batch that runs is forgotten; the milliseconds that it has taken so far. */
  long abandon() {
    long busyMs = 0L;
    Iterator each = operators.values().iterator();
    while (each.hasNext()) {
      Usage[] row = (Usage[]) each.next();
      for (int p = 0; p < row.length; p++) {
        busyMs += row[p] == null ? 0L : row[p].abandon();
      }
    }
    return busyMs;
  }

  /** Tells what is new, and keeps what the batch that runs has had so far. */
  void drain(String query, Drained out) {
    Iterator each = operators.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      Usage[] row = (Usage[]) entry.getValue();
      int told = 0;
      for (int p = 0; p < row.length; p++) {
        if (row[p] != null && row[p].isFresh()) {
          row[p].write(p, out);
          told++;
        }
        if (row[p] != null && !row[p].isOpen()) {
          row[p] = null;
          count--;
        }
      }
      if (told > 0) {
        out.text.append("G\t").append(query).append('\t').append(entry.getKey()).append('\t').append(told).append('\n');
      }
    }
    if (count == 0) {
      operators.clear();
    }
  }
}
