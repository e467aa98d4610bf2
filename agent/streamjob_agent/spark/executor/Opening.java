package io.streamjob.executor;

import java.io.Serializable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkEnv;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import scala.None$;
import scala.Option;
import scala.runtime.AbstractFunction1;

/**
 * Opens a store on the executor that a key group moves to, as the group's next task will do: that one finds it open, or waits
 * for what is left. It runs as a task of a moment; the loading is done on a thread beside, which takes no slot.
 */
public final class Opening extends AbstractFunction1 implements Serializable, Runnable {
  /** A task that waits 60 s for a store that somebody else opens fails: it is let go well before. */
  private static final long LONGEST_MS = 30000L;
  private final String executor;
  private final StateStoreProviderId id;
  private final long version;
  private final Object[] recipe;
  private transient Configuration hadoop;

  /** `recipe` is what the query's own plan opens its stores by; see Recipes. */
  public Opening(String executor, StateStoreProviderId id, long version, Object[] recipe) {
    this.executor = executor;
    this.id = id;
    this.version = version;
    this.recipe = recipe;
  }

  /** The task: a scheduler that has waited too long for the executor may have sent it to another, which opens nothing. */
  public Object apply(Object rows) {
    if (executor.equals(here())) {
      hadoop = ((SerializableConfiguration) ((Broadcast) recipe[6]).value()).value();
      beside(new Thread(this, "streamjob-opening"));
    }
    return null;
  }

  /** By handles: the compiler reads every method of a class that it calls, and some of this one's need classes that are not there. */
  private static Object here() {
    try {
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      MethodType made = MethodType.methodType(SparkEnv.class);
      Object env = lookup.findStatic(SparkEnv.class, "get", made).invokeWithArguments(new Object[0]);
      MethodType text = MethodType.methodType(String.class);
      return lookup.findVirtual(SparkEnv.class, "executorId", text).invokeWithArguments(new Object[] {env});
    } catch (Throwable changed) {
      return null;
    }
  }

  private static void beside(final Thread work) {
    Thread watch = new Thread("streamjob-opening-watch") {
      public void run() {
        try {
          work.join(LONGEST_MS);
          work.interrupt(); // what it read from afar is given up, and the store with it: the task opens it itself
        } catch (InterruptedException end) {
          work.interrupt();
        }
      }
    };
    work.setDaemon(true);
    watch.setDaemon(true);
    work.start();
    watch.start();
  }

  public void run() {
    try {
      if (!StateStore$.MODULE$.isLoaded(id)) { // else a task was faster, or an older copy is there
        ReadStateStore store = StateStore$.MODULE$.getReadOnly(id, (StructType) recipe[0], (StructType) recipe[1],
            (KeyStateEncoderSpec) recipe[2], version, (Option) (Object) None$.MODULE$, (Option) recipe[3],
            ((Boolean) recipe[4]).booleanValue(), (StateStoreConf) recipe[5], hadoop, ((Boolean) recipe[7]).booleanValue());
        store.release();
      }
    } catch (Throwable fault) { // the group's own task meets it, too, and then Spark says what is wrong
      System.err.println("streamjob: " + id + " was not opened ahead: " + fault);
    }
  }
}
