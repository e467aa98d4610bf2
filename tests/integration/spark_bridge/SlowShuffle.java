import java.util.concurrent.CountDownLatch;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.scheduler.MapStatus;

/** A shuffle whose sizes take as long to read as a test wants. */
public final class SlowShuffle extends ShuffleStatus {
  private final CountDownLatch reader = new CountDownLatch(1);
  private final CountDownLatch enough = new CountDownLatch(1);

  public SlowShuffle() {
    super(ARGUMENTS); // 0, 0, and more in newer versions of Spark
  }

  public MapStatus[] mapStatuses() {
    if (enough != null) { // null while it is made
      reader.countDown();
      try {
        enough.await();
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    }
    return new MapStatus[0];
  }

  public void awaitReader() throws InterruptedException {
    reader.await();
  }

  public void release() {
    enough.countDown();
  }
}
