package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;

/** Gives owners to key groups that have none: no state of theirs is loaded anywhere, so any executor will do. */
final class Spread {
  private final Tracked query;
  private final List executors;
  private final HashMap counts = new HashMap(); // executor -> int[1], key groups of the query
  private final ArrayList given = new ArrayList(); // Object[] {Operator, Integer partition}, in order
  private int ranks; // executors of the earlier driver

  Spread(Tracked query, List executors) {
    this.query = query;
    this.executors = executors;
    for (int i = 0; i < executors.size(); i++) {
      counts.put(executors.get(i), new int[1]);
    }
  }

  /** Each operator evenly; as under an earlier driver where that is known. Gives {Operator, partition} of all it placed. */
  List fill() {
    ArrayList surplus = new ArrayList();
    int next = 0;
    Iterator each = query.operators.values().iterator();
    while (each.hasNext()) {
      Operator operator = (Operator) each.next();
      for (int p = 0; p < operator.partitions; p++, next++) {
        int rank = query.rank(operator, p);
        ranks = Math.max(ranks, rank + 1);
        if (operator.owner(p) != null) {
          count(operator.owner(p));
        } else if (rank >= executors.size()) {
          surplus.add(new Object[] {operator, Integer.valueOf(p)});
        } else {
          give(operator, p, (String) executors.get(rank < 0 ? next % executors.size() : rank));
        }
      }
    }
    for (int i = 0; i < surplus.size(); i++) {
      Object[] group = (Object[]) surplus.get(i);
      give((Operator) group[0], ((Integer) group[1]).intValue(), (String) Collections.min(executors, new ByCount()));
    }
    share();
    return given;
  }

  private void give(Operator operator, int partition, String executor) {
    operator.want(partition, executor);
    count(executor);
    given.add(new Object[] {operator, Integer.valueOf(partition)});
  }

  private void count(String executor) {
    int[] count = (int[]) counts.get(executor);
    if (count != null) {
      count[0]++;
    }
  }

  /** Executors without a counterpart under the earlier driver get their even share, from the fullest ones. */
  private void share() {
    int share = given.size() / executors.size();
    for (int i = ranks; ranks > 0 && i < executors.size(); i++) {
      String empty = (String) executors.get(i);
      for (int missing = share - of(empty); missing > 0 && take(empty); missing--) {
        count(empty);
      }
    }
  }

  /** The newest group given to the fullest executor goes to another one instead; whether there was one. */
  private boolean take(String executor) {
    String fullest = (String) Collections.max(executors, new ByCount());
    for (int i = given.size() - 1; i >= 0; i--) {
      Object[] group = (Object[]) given.get(i);
      int partition = ((Integer) group[1]).intValue();
      if (fullest.equals(((Operator) group[0]).owner(partition))) {
        ((Operator) group[0]).want(partition, executor);
        ((int[]) counts.get(fullest))[0]--;
        return true;
      }
    }
    return false;
  }

  private int of(Object executor) {
    return ((int[]) counts.get(executor))[0];
  }

  private final class ByCount implements Comparator {
    public int compare(Object left, Object right) {
      return Integer.compare(of(left), of(right));
    }
  }
}
