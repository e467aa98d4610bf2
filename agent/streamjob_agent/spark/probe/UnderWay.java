package io.streamjob.probe;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkJobInfo;

/** The batches of queries, and the jobs of others, that are under way at one moment; and whether all of them are over. */
final class UnderWay {
  private final HashMap batches = new HashMap(); // execution -> its newest progress then, null before the first
  private final HashSet jobs = new HashSet();

  UnderWay(SparkContext context, ConcurrentHashMap running) throws Exception {
    Iterator executions = running.values().iterator();
    while (executions.hasNext()) {
      Object execution = executions.next();
      Object newest = progress(execution); // before it is asked whether it is active: a batch may end meanwhile
      if (Stopper.active(execution)) {
        batches.put(execution, newest);
      }
    }
    jobs.addAll(waitedFor(context));
  }

  /** Asked from one thread: what is over is forgotten. */
  boolean isOver(SparkContext context, ConcurrentHashMap running) throws Exception {
    Iterator each = batches.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      Object execution = entry.getKey();
      // A trigger's end writes progress on the query's own thread: other progress than then is of a later end.
      if (!running.containsValue(execution) || !Stopper.active(execution) || progress(execution) != entry.getValue()) {
        each.remove();
      }
    }
    jobs.retainAll(waitedFor(context));
    return batches.isEmpty() && jobs.isEmpty();
  }

  /** Jobs of several stages: those of one stage need nobody's files, and a receiver's never end. */
  private static HashSet waitedFor(SparkContext context) {
    HashSet found = new HashSet();
    int[] active = context.statusTracker().getActiveJobIds();
    for (int i = 0; i < active.length; i++) {
      SparkJobInfo job = (SparkJobInfo) Reflect.orNull(context.statusTracker().getJobInfo(active[i]));
      if (job != null && job.stageIds().length > 1) {
        found.add(Integer.valueOf(active[i]));
      }
    }
    return found;
  }

  private static Object progress(Object execution) throws Exception {
    return Reflect.call(execution, "lastProgress");
  }
}
