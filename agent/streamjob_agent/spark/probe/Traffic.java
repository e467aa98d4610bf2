package io.streamjob.probe;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.scheduler.MapStatus;

/** The heaviest pairs of map partition and reduce partition of a shuffle, read where the driver keeps the sizes. */
final class Traffic {
  private Traffic() {
  }

  static final class BySize implements Comparator {
    public int compare(Object left, Object right) {
      return Long.compare(((long[]) left)[0], ((long[]) right)[0]);
    }
  }

  /** Adds {size, from, fromPartition, to, toPartition} to a queue that keeps the `most` largest. */
  static void collect(MapOutputTrackerMaster tracker, int shuffle, Operator from, Operator to, long least, int most,
      PriorityQueue largest) {
    ShuffleStatus status = (ShuffleStatus) Reflect.orNull(tracker.shuffleStatuses().get(Integer.valueOf(shuffle)));
    MapStatus[] maps = status == null ? new MapStatus[0] : status.mapStatuses();
    if (maps.length != from.partitions) {
      return; // cleaned already, or not one map task per key group
    }
    for (int i = 0; i < maps.length; i++) {
      for (int j = 0; maps[i] != null && j < to.partitions; j++) {
        long size = maps[i].getSizeForBlock(j);
        if (size >= least && size > 0L) {
          largest.add(new long[] {size, from.id, i, to.id, j});
          if (largest.size() > most) {
            largest.poll();
          }
        }
      }
    }
  }

  static void write(PriorityQueue largest, StringBuilder out) {
    while (!largest.isEmpty()) {
      long[] pair = (long[]) largest.poll();
      out.append(pair[1]).append('\t').append(pair[2]).append('\t').append(pair[3]).append('\t');
      out.append(pair[4]).append('\t').append(pair[0]).append('\n');
    }
  }
}
