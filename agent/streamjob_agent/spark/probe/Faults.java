package io.streamjob.probe;

import java.lang.reflect.InvocationTargetException;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/** Counts what went wrong inside the probe, by place: the job never sees it. */
final class Faults {
  private final TreeMap counts = new TreeMap();
  private final TreeMap newest = new TreeMap();

  /** An interrupt is not ours to end: it is Spark's way to stop the query whose thread this is. */
  void caught(String place, Throwable fault) {
    // What a method called by name has thrown comes wrapped, in something that says nothing.
    boolean wrapped = fault instanceof InvocationTargetException && fault.getCause() != null;
    Throwable real = wrapped ? fault.getCause() : fault;
    if (real instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    } else {
      count(place, real);
    }
  }

  private synchronized void count(String place, Throwable fault) {
    Long before = (Long) counts.get(place);
    counts.put(place, Long.valueOf(before == null ? 1L : before.longValue() + 1L));
    String text = String.valueOf(fault).replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
    newest.put(place, text.length() > 300 ? text.substring(0, 300) : text);
  }

  /** One line each: X, place, count, newest message. */
  synchronized void write(StringBuilder out) {
    Iterator entries = counts.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry entry = (Map.Entry) entries.next();
      out.append("X\t").append(entry.getKey()).append('\t').append(entry.getValue()).append('\t');
      out.append(newest.get(entry.getKey())).append('\n');
    }
  }
}
