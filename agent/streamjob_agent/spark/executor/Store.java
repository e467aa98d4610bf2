package io.streamjob.executor;

import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.util.SerializableConfiguration;

/** A store to be opened as its group's next task will do it: that one finds it open, or waits for what is left. */
final class Store implements Serializable, Runnable {
  private final Object[] arguments; // of Spark's function that opens a store to be read; see Recipe
  private transient Object[] here;

  Store(Object[] arguments) {
    this.arguments = arguments;
  }

  /** In the task: what was broadcast is read there. */
  void begin() {
    here = (Object[]) arguments.clone();
    for (int i = 0; i < here.length; i++) {
      if (here[i] instanceof Broadcast) {
        here[i] = ((SerializableConfiguration) ((Broadcast) here[i]).value()).value();
      }
    }
  }

  public void run() {
    StateStoreProviderId id = (StateStoreProviderId) here[0];
    try {
      if (!StateStore$.MODULE$.isLoaded(id)) { // else a task was faster, or an older copy is there
        Loan.takeAndReturn(id, here);
      }
    } catch (Throwable fault) { // the group's own task meets it, too, and then Spark says what is wrong
      Throwable why = fault instanceof InvocationTargetException ? fault.getCause() : fault;
      System.err.println("streamjob: " + id + " was not opened ahead: " + why);
    }
  }
}
