package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;

/** New owners for the key groups of an executor that is gone: the one with the least work each, the heaviest group first. */
final class Rescue {
  private static final double BY_COUNT = 1e-6; // work being equal, each operator is spread evenly
  private final Tracked query;
  private final List executors;
  private final HashMap work = new HashMap(); // executor -> double[1]

  Rescue(Tracked query, List executors) {
    this.query = query;
    this.executors = executors;
  }

  /** Gives {Operator, partition} of all it moved. */
  List from(String executor) {
    ArrayList orphans = new ArrayList();
    double mean = mean();
    Iterator each = query.operators.values().iterator();
    while (each.hasNext()) {
      Operator operator = (Operator) each.next();
      for (int p = 0; p < operator.partitions; p++) {
        double weight = operator.work[p] > 0.0 ? operator.work[p] : mean;
        if (executor.equals(operator.owner(p))) {
          orphans.add(new Object[] {operator, Integer.valueOf(p), Double.valueOf(weight)});
        } else {
          add(operator, operator.owner(p), weight);
        }
      }
    }
    Collections.sort(orphans, new HeaviestFirst()); // stable: equal ones in the order of their numbers
    for (int i = 0; i < orphans.size(); i++) {
      Object[] orphan = (Object[]) orphans.get(i);
      Operator operator = (Operator) orphan[0];
      String best = leastBusy(operator);
      operator.want(((Integer) orphan[1]).intValue(), best);
      add(operator, best, ((Double) orphan[2]).doubleValue());
    }
    return orphans;
  }

  /** A group that was never measured weighs as much as the mean measured one. */
  private double mean() {
    double sum = 0.0;
    int measured = 0;
    Iterator each = query.operators.values().iterator();
    while (each.hasNext()) {
      Operator operator = (Operator) each.next();
      for (int p = 0; p < operator.partitions; p++) {
        sum += operator.work[p];
        measured += operator.work[p] > 0.0 ? 1 : 0;
      }
    }
    return measured == 0 ? 1.0 : sum / measured;
  }

  private void add(Operator operator, String executor, double weight) {
    sum(executor)[0] += weight;
    sum(operator.id + "\t" + executor)[0] += 1.0;
  }

  private double[] sum(String key) {
    double[] found = (double[]) work.get(key);
    if (found == null) {
      found = new double[1];
      work.put(key, found);
    }
    return found;
  }

  private String leastBusy(Operator operator) {
    String best = null;
    double least = 0.0;
    for (int i = 0; i < executors.size(); i++) {
      String id = (String) executors.get(i);
      double busy = sum(id)[0] * (1.0 + BY_COUNT * sum(operator.id + "\t" + id)[0]);
      if (best == null || busy < least) {
        best = id;
        least = busy;
      }
    }
    return best;
  }

  private static final class HeaviestFirst implements Comparator {
    public int compare(Object left, Object right) {
      return Double.compare(((Double) ((Object[]) right)[2]).doubleValue(), ((Double) ((Object[]) left)[2]).doubleValue());
    }
  }
}
