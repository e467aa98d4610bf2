package io.streamjob.probe;

import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.scheduler.MapStatus;

/** Bytes between key groups, read where the driver keeps the sizes: the heaviest pairs, and what each group sends in all. */
final class Traffic {
  private final long least;
  private final int most;
  private final PriorityQueue largest = new PriorityQueue(64, new BySize()); // long[] {size, from, map, to, reduce}
  private final TreeMap sent = new TreeMap(); // Integer operator -> long[2][]: bytes and partners by partition

  Traffic(long least, int most) {
    this.least = least;
    this.most = most;
  }

  static final class BySize implements Comparator {
    public int compare(Object left, Object right) {
      return Long.compare(((long[]) left)[0], ((long[]) right)[0]);
    }
  }

  /** Reads one shuffle, of which map `first` is partition 0 of `from`. */
  void collect(MapOutputTrackerMaster tracker, int shuffle, int first, Operator from, Operator to) {
    ShuffleStatus status = (ShuffleStatus) Reflect.orNull(tracker.shuffleStatuses().get(Integer.valueOf(shuffle)));
    MapStatus[] maps = status == null ? new MapStatus[0] : status.mapStatuses();
    if (maps.length < first + from.partitions) {
      return; // cleaned already
    }
    long[][] sums = (long[][]) sent.get(Integer.valueOf(from.id));
    if (sums == null) {
      sums = new long[2][from.partitions];
      sent.put(Integer.valueOf(from.id), sums);
    }
    for (int i = 0; i < from.partitions; i++) {
      for (int j = 0; maps[first + i] != null && j < to.partitions; j++) {
        long size = maps[first + i].getSizeForBlock(j);
        if (size > 0L) {
          sums[0][i] += size;
          sums[1][i]++;
          keep(size, from.id, i, to.id, j);
        }
      }
    }
  }

  private void keep(long size, int from, int map, int to, int reduce) {
    if (size >= least && (largest.size() < most || size > ((long[]) largest.peek())[0])) {
      largest.add(new long[] {size, from, map, to, reduce});
      if (largest.size() > most) {
        largest.poll();
      }
    }
  }

  void write(StringBuilder out) {
    while (!largest.isEmpty()) {
      long[] pair = (long[]) largest.poll();
      out.append("P\t").append(pair[1]).append('\t').append(pair[2]).append('\t').append(pair[3]).append('\t');
      out.append(pair[4]).append('\t').append(pair[0]).append('\n');
    }
    Iterator each = sent.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      long[][] sums = (long[][]) entry.getValue();
      for (int p = 0; p < sums[0].length; p++) {
        out.append("A\t").append(entry.getKey()).append('\t').append(p).append('\t').append(sums[0][p]);
        out.append('\t').append(sums[1][p]).append('\n');
      }
    }
  }
}
