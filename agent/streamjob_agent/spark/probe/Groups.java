package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/** What the key groups of one query took since the last drain. Guarded by the meter's monitor. */
final class Groups {
  private final TreeMap operators = new TreeMap(); // Integer -> Usage[] by partition, null where there is nothing to tell
  private final TreeMap news = new TreeMap(); // Integer operator -> ArrayList of partitions that have become fresh
  private boolean all; // whether others may be fresh, too, or not open
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

  /** There is something to tell of the group before its batch has ended. */
  void fresh(int operator, int partition) {
    Integer name = Integer.valueOf(operator);
    ArrayList partitions = (ArrayList) news.get(name);
    if (partitions == null) {
      partitions = new ArrayList();
      news.put(name, partitions);
    }
    partitions.add(Integer.valueOf(partition));
  }

  /** A batch has ended. */
  void close() {
    all = true;
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
    all = true;
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

  /** Tells what is new, and keeps what the batch that runs has had so far. In its middle few groups have any news. */
  void drain(String query, Drained out) {
    if (all) {
      drainAll(query, out);
    } else {
      drainNews(query, out);
    }
    all = false;
    news.clear();
  }

  private void drainNews(String query, Drained out) {
    Iterator each = news.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      Usage[] row = (Usage[]) operators.get(entry.getKey());
      ArrayList partitions = (ArrayList) entry.getValue();
      for (int i = 0; i < partitions.size(); i++) {
        int partition = ((Integer) partitions.get(i)).intValue();
        row[partition].write(partition, out);
      }
      told(query, entry.getKey(), partitions.size(), out);
    }
  }

  /** Goes through all of them. */
  void drainAll(String query, Drained out) {
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
        told(query, entry.getKey(), told, out);
      }
    }
    if (count == 0) {
      operators.clear();
    }
  }

  private static void told(String query, Object operator, int rows, Drained out) {
    out.text.append("G\t").append(query).append('\t').append(operator).append('\t').append(rows).append('\n');
  }
}
