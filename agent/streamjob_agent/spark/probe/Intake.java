package io.streamjob.probe;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Rows that the batch which each query runs has taken from its sources: known once they are read, long before its end. Tasks
 * count what they read, which is more than a batch's rows where a source is read twice or a table is read besides, so it is
 * told in the measure of the newest ended batch. Guarded by the meter's monitor.
 */
final class Intake {
  /** Times what one of the two batches before read from which on the agent is told at once: less would change nothing. */
  static final double RISE = 1.15;
  private static final int MOST_QUERIES = 64;
  private final LinkedHashMap queries = new LinkedHashMap(); // query id -> Reading

  static final class Reading {
    long batch = -1L; // that runs, -1 for none
    long begunMs;
    long read; // by its tasks so far
    int open; // stages that read nothing of others, and have not ended
    boolean told;
    long lastRead; // by tasks of the newest ended batch that had rows, 0 before
    long earlierRead; // of the one before that
    long lastRows; // that it had
  }

  /** A job of a batch has started; the first one of a batch begins it. */
  void started(String queryId, long batch, long atMs) {
    Reading of = (Reading) queries.remove(queryId);
    of = of == null ? new Reading() : of;
    queries.put(queryId, of); // the newest one
    if (queries.size() > MOST_QUERIES) {
      queries.remove(queries.keySet().iterator().next());
    }
    if (of.batch != batch) {
      of.batch = batch;
      of.begunMs = atMs;
      of.read = 0L;
      of.open = 0;
      of.told = false;
    }
  }

  void read(String queryId, long batch, long records) {
    Reading of = running(queryId, batch);
    if (of != null) {
      of.read += records;
    }
  }

  /** A stage of sources begins (1) or has ended (-1). */
  void source(String queryId, long batch, int change) {
    Reading of = running(queryId, batch);
    if (of != null) {
      of.open += change;
    }
  }

  /** A stage begins that reads what others wrote. Whether all of them have ended now, and tell that rows have risen. */
  boolean passedOn(String queryId, long batch) {
    Reading of = running(queryId, batch);
    if (of == null || of.told || of.open > 0) {
      return false;
    }
    of.told = true;
    long usual = of.earlierRead > 0L ? Math.min(of.lastRead, of.earlierRead) : of.lastRead; // the last one may have risen
    return usual > 0L && of.read > RISE * usual;
  }

  private Reading running(String queryId, long batch) {
    Reading of = (Reading) queries.get(queryId);
    return of == null || of.batch != batch ? null : of;
  }

  void closed(String queryId, long batch, long rows) {
    Reading of = running(queryId, batch);
    if (of == null) {
      return;
    }
    of.batch = -1L;
    if (rows > 0L && of.read > 0L) {
      of.lastRows = rows;
      of.earlierRead = of.lastRead;
      of.lastRead = of.read;
    }
  }

  /** A run of the query is over. */
  void over(String queryId) {
    queries.remove(queryId);
  }

  /** One line each: R, query, batch, ms of its begin, rows so far. */
  void drain(StringBuilder out) {
    Iterator each = queries.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      Reading of = (Reading) entry.getValue();
      if (of.batch >= 0L && of.told && of.lastRead > 0L) {
        long rows = Math.round((double) of.read * of.lastRows / of.lastRead);
        out.append("R\t").append(entry.getKey()).append('\t').append(of.batch).append('\t').append(of.begunMs);
        out.append('\t').append(rows).append('\n');
      }
    }
  }
}
