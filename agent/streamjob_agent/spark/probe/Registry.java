package io.streamjob.probe;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;

/** The queries seen so far. Ended ones are kept for a restart, the oldest of them forgotten beyond a limit. */
final class Registry {
  private static final int MOST = 64;
  private final LinkedHashMap queries = new LinkedHashMap();

  synchronized Tracked get(String id) {
    return (Tracked) queries.get(id);
  }

  synchronized Tracked obtain(String id) {
    Tracked query = (Tracked) queries.remove(id);
    if (query == null) {
      query = new Tracked(id);
    }
    queries.put(id, query);
    Iterator oldest = queries.values().iterator();
    while (queries.size() > MOST && oldest.hasNext()) {
      if (!((Tracked) oldest.next()).active) {
        oldest.remove();
      }
    }
    return query;
  }

  synchronized List all() {
    return new ArrayList(queries.values());
  }
}
