package io.streamjob.executor;

import java.io.Serializable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.apache.spark.SparkEnv;

/**
 * Has the stores of a key group opened on the executor that it moves to. It runs as a task of a moment; the loading is done on
 * threads beside, which take no slot. Without stores it only brings the class here.
 */
public final class Opening extends scala.runtime.AbstractFunction1 implements Serializable {
  /** A task that waits 60 s for a store that somebody else opens fails: it is let go well before. */
  private static final long LONGEST_MS = 30000L;
  private final String executor;
  private final Store[] stores;

  /** `stores`: what each Store is made of. */
  public Opening(String executor, Object[] stores) {
    this.executor = executor;
    this.stores = new Store[stores.length];
    for (int i = 0; i < stores.length; i++) {
      this.stores[i] = new Store((Object[]) stores[i]);
    }
  }

  /** In the driver: throws where executors of this Spark cannot do it. */
  public static void check() throws NoSuchMethodException {
    Loan.check();
  }

  /** The task; whether it is where it should be: a scheduler that has waited too long may have sent it to another executor. */
  public Object apply(Object rows) {
    boolean here = executor.equals(here());
    for (int i = 0; here && i < stores.length; i++) {
      stores[i].begin();
      beside(new Thread(stores[i], "streamjob-opening"));
    }
    return Boolean.valueOf(here);
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
}
