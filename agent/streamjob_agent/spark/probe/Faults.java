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
    Throwable real = real(fault);
    if (real instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    } else {
      count(place, real);
    }
  }

  /** What was thrown, in one line. */
  static String words(Throwable fault) {
    String text = String.valueOf(real(fault)).replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
    return text.length() > 300 ? text.substring(0, 300) : text;
  }

  /** What a method called by name has thrown comes wrapped, in something that says nothing. */
  private static Throwable real(Throwable fault) {
    boolean wrapped = fault instanceof InvocationTargetException && fault.getCause() != null;
    return wrapped ? fault.getCause() : fault;
  }

  private synchronized void count(String place, Throwable fault) {
    Long before = (Long) counts.get(place);
    counts.put(place, Long.valueOf(before == null ? 1L : before.longValue() + 1L));
    newest.put(place, words(fault));
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
