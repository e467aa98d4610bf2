package io.streamjob.executor;

import java.lang.reflect.Method;
import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import scala.None$;
import scala.Option;
import scala.collection.mutable.HashMap;
import scala.ref.WeakReference;

/** Opens a store to be read and lets go of it, so that it stays open. By names: the calls differ between Spark's versions. */
final class Loan {
  private static final Object[] NOTHING = {};

  private Loan() {
  }

  /** Throws where this Spark lacks a call: a store that cannot be let go would fail its group's task. */
  static void check() throws NoSuchMethodException {
    method(StateStore$.class, "getReadOnly");
    if (!canRelease()) {
      method(StateStore$.class, "loadedProviders");
      Class database = method(RocksDBStateStoreProvider.class, "rocksDB").getReturnType();
      method(database, "release");
      method(method(database, "acquiredThreadInfo").getReturnType(), "threadRef");
    }
  }

  /** `arguments`: as Spark's version takes them. */
  static void takeAndReturn(StateStoreProviderId id, Object[] arguments) throws Exception {
    try {
      Object store = method(StateStore$.class, "getReadOnly").invoke(StateStore$.MODULE$, arguments);
      if (canRelease()) {
        call(ReadStateStore.class, "release", store);
      }
    } finally {
      if (!canRelease()) {
        letGo(id);
      }
    }
  }

  /** From Spark 4.1 on. */
  private static boolean canRelease() {
    return has(ReadStateStore.class, "release");
  }

  /**
   * Before Spark 4.1 a RocksDB belongs to the thread that loaded it, or failed to, until that one's task ends or it commits
   * or rolls back, which would lose what was loaded. This thread has no task: it gives the lock back by itself. Other stores
   * have none.
   */
  private static void letGo(StateStoreProviderId id) throws Exception {
    HashMap open = (HashMap) call(StateStore$.class, "loadedProviders", StateStore$.MODULE$);
    Option provider;
    synchronized (open) {
      provider = open.get(id);
    }
    if (provider.isDefined() && provider.get() instanceof RocksDBStateStoreProvider) {
      Object database = call(RocksDBStateStoreProvider.class, "rocksDB", provider.get());
      if (isMine(call(database.getClass(), "acquiredThreadInfo", database))) {
        Method release = method(database.getClass(), "release");
        release.invoke(database, release.getParameterTypes().length == 0 ? NOTHING : afterLoading(release));
      }
    }
  }

  private static boolean isMine(Object holder) throws Exception {
    Option thread = holder == null ? null : ((WeakReference) call(holder.getClass(), "threadRef", holder)).get();
    return thread != null && thread.isDefined() && thread.get() == Thread.currentThread();
  }

  /** Spark 4.0 writes to its log what a database is given back after. */
  private static Object[] afterLoading(Method release) throws Exception {
    Class operation = release.getParameterTypes()[0];
    Class loading = operation.getClassLoader().loadClass(operation.getPackage().getName() + ".LoadStore$");
    return new Object[] {loading.getField("MODULE$").get(null), None$.MODULE$};
  }

  private static Object call(Class type, String name, Object of) throws Exception {
    return method(type, name).invoke(of, NOTHING);
  }

  private static boolean has(Class type, String name) {
    Method[] all = type.getDeclaredMethods();
    boolean found = false;
    for (int i = 0; i < all.length; i++) {
      found |= all[i].getName().equals(name);
    }
    return found;
  }

  /** Also a private one; each of these names has one meaning. */
  private static Method method(Class type, String name) throws NoSuchMethodException {
    Method[] all = type.getDeclaredMethods();
    for (int i = 0; i < all.length; i++) {
      if (all[i].getName().equals(name)) {
        all[i].setAccessible(true);
        return all[i];
      }
    }
    throw new NoSuchMethodException(type.getName() + "." + name);
  }
}
