package io.streamjob.executor;

import java.io.Serializable;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import scala.Option;

/** A store to be opened as its group's next task will do it: that one finds it open, or waits for what is left. */
final class Store implements Serializable, Runnable {
  private final StateStoreProviderId id;
  private final long version;
  private final Option name; // of the version, where versions have names
  private final Object[] recipe; // what the query's own plan opens its stores by; see Recipes
  private transient Configuration hadoop;

  /** `parts`: id, Long version, Option of its name, recipe. */
  Store(Object[] parts) {
    id = (StateStoreProviderId) parts[0];
    version = ((Long) parts[1]).longValue();
    name = (Option) parts[2];
    recipe = (Object[]) parts[3];
  }

  /** In the task: what was broadcast is read there. */
  void begin() {
    hadoop = ((SerializableConfiguration) ((Broadcast) recipe[6]).value()).value();
  }

  public void run() {
    try {
      if (!StateStore$.MODULE$.isLoaded(id)) { // else a task was faster, or an older copy is there
        ReadStateStore store = StateStore$.MODULE$.getReadOnly(id, (StructType) recipe[0], (StructType) recipe[1],
            (KeyStateEncoderSpec) recipe[2], version, name, (Option) recipe[3], ((Boolean) recipe[4]).booleanValue(),
            (StateStoreConf) recipe[5], hadoop, ((Boolean) recipe[7]).booleanValue());
        store.release();
      }
    } catch (Throwable fault) { // the group's own task meets it, too, and then Spark says what is wrong
      System.err.println("streamjob: " + id + " was not opened ahead: " + fault);
    }
  }
}
