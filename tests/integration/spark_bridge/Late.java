import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/** A job's own thread, as its pools have them: it inherits what Spark notes of the batch in which it was made, for ever. */
public final class Late implements ThreadFactory {
  private final ExecutorService pool = Executors.newSingleThreadExecutor(this);

  public Thread newThread(Runnable work) {
    Thread thread = new Thread(work, "late");
    thread.setDaemon(true);
    return thread;
  }

  public long count(final Object frame) throws Exception {
    return ((Long) pool.submit(new Callable() {
      public Object call() throws Exception {
        return frame.getClass().getMethod("count", new Class[0]).invoke(frame, new Object[0]);
      }
    }).get()).longValue();
  }
}
