package io.streamjob.probe;

import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.streaming.SourceProgress;
import org.apache.spark.sql.streaming.StateOperatorProgress;
import org.apache.spark.sql.streaming.StreamingQueryProgress;

/** What the agent wants to know of a batch's end. Spark's own JSON has a hundred figures of each store, and is made in milliseconds. */
final class BatchLine {
  private BatchLine() {
  }

  /**
   * B, ms of its end, query, run, number, ms it took, rows, rows a second read and worked on, bytes of state in memory (-1 where
   * nobody tells), number of sources; newest offsets and offsets done of each source, as JSON; and ms of each part, "name=ms".
   */
  static String of(StreamingQueryProgress progress, long nowMs) {
    StringBuilder out = new StringBuilder("B\t").append(nowMs).append('\t').append(progress.id()).append('\t');
    out.append(progress.runId()).append('\t').append(progress.batchId()).append('\t').append(progress.batchDuration());
    out.append('\t').append(progress.numInputRows()).append('\t').append(progress.inputRowsPerSecond()).append('\t');
    out.append(progress.processedRowsPerSecond()).append('\t').append(memory(progress.stateOperators())).append('\t');
    SourceProgress[] sources = progress.sources();
    out.append(sources.length);
    for (int i = 0; i < sources.length; i++) {
      out.append('\t').append(oneLine(sources[i].latestOffset())).append('\t').append(oneLine(sources[i].endOffset()));
    }
    Iterator parts = progress.durationMs().entrySet().iterator();
    while (parts.hasNext()) {
      Map.Entry part = (Map.Entry) parts.next();
      out.append('\t').append(part.getKey()).append('=').append(part.getValue());
    }
    return out.toString();
  }

  private static long memory(StateOperatorProgress[] operators) {
    long bytes = operators.length == 0 ? -1L : 0L;
    for (int i = 0; i < operators.length; i++) {
      bytes += operators[i].memoryUsedBytes();
    }
    return bytes;
  }

  private static String oneLine(String json) {
    return json == null ? "" : json.replace('\t', ' ').replace('\n', ' ');
  }
}
