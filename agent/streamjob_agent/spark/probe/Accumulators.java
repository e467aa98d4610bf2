package io.streamjob.probe;

/**
 * What the accumulators of one batch's plan say, by their numbers. A task tells dozens, and is asked for each of them: no
 * object is made for it.
 */
final class Accumulators {
  private static final int FIRST_ROOM = 256;
  private long[] numbers = new long[FIRST_ROOM]; // one more than Spark's, 0 where there is none
  private Plans.Metric[] metrics = new Plans.Metric[FIRST_ROOM];
  private int count;

  void put(long number, Plans.Metric metric) {
    if (2 * count >= numbers.length) {
      grow();
    }
    int place = place(number);
    count += metrics[place] == null ? 1 : 0;
    numbers[place] = number + 1L;
    metrics[place] = metric;
  }

  /** Null where the plan has no such accumulator. */
  Plans.Metric get(long number) {
    return metrics[place(number)];
  }

  /** Where it is, or would be. Those of one plan follow each other, mostly: their last digits spread them best. */
  private int place(long number) {
    int mask = numbers.length - 1;
    int place = (int) number & mask;
    while (numbers[place] != 0L && numbers[place] != number + 1L) {
      place = (place + 1) & mask;
    }
    return place;
  }

  private void grow() {
    long[] before = numbers;
    Plans.Metric[] known = metrics;
    numbers = new long[2 * before.length];
    metrics = new Plans.Metric[2 * before.length];
    count = 0;
    for (int i = 0; i < before.length; i++) {
      if (before[i] != 0L) {
        put(before[i] - 1L, known[i]);
      }
    }
  }
}
