package io.streamjob.probe;

import java.util.ArrayList;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import scala.Option$;

/** What the tasks of a stage open one of their stores by. */
final class Recipe {
  final long operator;
  final String store;
  final int place; // of the store among those that its operator names the versions of
  final boolean named; // its versions have names
  private final Object[] parts;

  /**
   * `parts`: schemas of keys and of values, how keys are encoded, an Option of the schemas that were broadcast, whether there
   * are column families, the store's settings, Hadoop's as a broadcast, whether a key has several values.
   */
  Recipe(long operator, String store, int place, boolean named, Object[] parts) {
    this.operator = operator;
    this.store = store;
    this.place = place;
    this.named = named;
    this.parts = parts;
  }

  /** Of Spark's StateStore.getReadOnly, in its order; `name` of the version, else null. */
  Object[] arguments(StateStoreProviderId id, long version, String name) {
    boolean early = parts[2] instanceof Integer; // Spark 3.5: how many columns of the key are a prefix, and no families
    ArrayList all = new ArrayList();
    all.add(id);
    all.add(parts[0]);
    all.add(parts[1]);
    all.add(parts[2]);
    all.add(Long.valueOf(version));
    if (!early) {
      all.add(Option$.MODULE$.apply(name));
      all.add(parts[3]);
      all.add(parts[4]);
    }
    all.add(parts[5]);
    all.add(parts[6]);
    if (!early) {
      all.add(parts[7]);
    }
    return all.toArray();
  }
}
