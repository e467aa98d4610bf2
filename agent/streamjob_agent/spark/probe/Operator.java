package io.streamjob.probe;

import java.util.ArrayList;
import java.util.List;

/**
 * The key groups of one stateful operator: who should own each, and where each ran last. An operator stands for every
 * stateful operator of its stage; `stores` are the stores of all of them, as {operatorId, storeName}.
 *
 * A key group is settled once a task of it has ended on the executor wanted: until then every batch boundary registers it
 * again, because a task that was already under way can have overwritten the registration.
 */
final class Operator {
  private static final double RECENT = 0.8;
  final int id;
  final int partitions;
  List stores = new ArrayList();
  final String[] wanted;
  final String[] seen;
  final boolean[] settled;
  final String[] registered; // where the probe registered each since its newest task has ended, else null
  final boolean[] left; // a task of it has ended elsewhere since it was wanted where it is wanted now
  Object top; // the first stateful node of its stage, in the plan that was read last
  List recipes; // how this run's tasks open its stores, null until somebody asks
  boolean pinned; // its partition 0 stays where it runs while it can: see Pins
  final double[] work; // recent run time of each group's tasks, for comparison with each other only

  Operator(int id, int partitions) {
    this.id = id;
    this.partitions = partitions;
    this.wanted = new String[partitions];
    this.seen = new String[partitions];
    this.settled = new boolean[partitions];
    this.registered = new String[partitions];
    this.left = new boolean[partitions];
    this.work = new double[partitions];
  }

  /** Whether it was wanted elsewhere, or nowhere, until now. */
  boolean want(int partition, String executor) {
    boolean moves = !executor.equals(wanted[partition]);
    if (moves) {
      wanted[partition] = executor;
      settled[partition] = false;
      left[partition] = false;
    }
    return moves;
  }

  /** Whether a pinned group's first task of the run has ended elsewhere than it is wanted: it is wanted there from now on. */
  boolean keeps(int partition, String executor) {
    return pinned && partition == 0 && seen[0] == null && want(0, executor);
  }

  /** Whether it is the first task since then that ended where the group is not wanted. */
  boolean saw(int partition, String executor, long busyMs) {
    work[partition] = RECENT * work[partition] + busyMs;
    seen[partition] = executor;
    settled[partition] = executor.equals(wanted[partition]);
    registered[partition] = null; // its store has told Spark that it is there
    boolean leaves = wanted[partition] != null && !settled[partition] && !left[partition];
    left[partition] |= leaves;
    return leaves;
  }

  /** A new run of the query starts with an empty coordinator. */
  void restart() {
    for (int p = 0; p < partitions; p++) {
      if (wanted[p] == null) {
        wanted[p] = seen[p];
      }
      seen[p] = null;
      settled[p] = false;
      registered[p] = null;
      left[p] = false;
    }
    forget();
  }

  /** What only a run that goes on needs. */
  void forget() {
    top = null;
    recipes = null;
  }

  /**
   * The executor that its next task runs on before it moves: it is wanted elsewhere, and no task of it has ended since then.
   * Null where it is where it should be, or on its way.
   */
  String stays(int partition) {
    if (seen[partition] == null || seen[partition].equals(wanted[partition]) || left[partition]) {
      return null;
    }
    return registered[partition] == null ? seen[partition] : registered[partition];
  }

  /** Where a group is or should be, null when nobody knows. */
  String owner(int partition) {
    return wanted[partition] != null ? wanted[partition] : seen[partition];
  }

  void addStore(long operator, String name) {
    for (int i = 0; i < stores.size(); i++) {
      Object[] store = (Object[]) stores.get(i);
      if (((Long) store[0]).longValue() == operator && name.equals(store[1])) {
        return;
      }
    }
    stores.add(new Object[] {Long.valueOf(operator), name});
  }
}
