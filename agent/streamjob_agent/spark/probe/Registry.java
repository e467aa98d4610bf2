package io.streamjob.probe;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;

/** The queries seen so far. Ended ones are kept for a restart, the oldest of them forgotten beyond a limit. */
final class Registry {
  private static final int MOST = 64;
  private final LinkedHashMap queries = new LinkedHashMap();
  private final LinkedHashMap ranks = new LinkedHashMap(); // query id -> Integer operator -> int[] by partition

  synchronized Tracked get(String id) {
    return (Tracked) queries.get(id);
  }

  synchronized Tracked obtain(String id) {
    Tracked query = (Tracked) queries.remove(id);
    if (query == null) {
      query = new Tracked(id);
    }
    queries.put(id, query);
    query.ranks = (HashMap) ranks.get(id);
    Iterator oldest = queries.values().iterator();
    while (queries.size() > MOST && oldest.hasNext()) {
      if (!((Tracked) oldest.next()).active) {
        oldest.remove();
      }
    }
    return query;
  }

  /** Where groups of a query that may start later were under an earlier driver. */
  synchronized void remember(String id, HashMap ranksByOperator) {
    ranks.put(id, ranksByOperator);
    if (ranks.size() > MOST) {
      ranks.remove(ranks.keySet().iterator().next());
    }
  }

  synchronized List all() {
    return new ArrayList(queries.values());
  }
}
