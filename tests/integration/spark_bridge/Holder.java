/** A thread that has an object's monitor until it is told to give it back. */
public final class Holder implements Runnable {
  private Object held;
  private boolean has;
  private boolean enough;

  public void hold(Object thing) throws InterruptedException {
    held = thing;
    Thread thread = new Thread(this, "holder");
    thread.setDaemon(true);
    thread.start();
    synchronized (this) {
      while (!has) {
        wait();
      }
    }
  }

  public void run() {
    synchronized (held) {
      synchronized (this) {
        has = true;
        notifyAll();
        while (!enough) {
          try {
            wait();
          } catch (InterruptedException stopped) {
            return;
          }
        }
      }
    }
  }

  public synchronized void release() {
    enough = true;
    notifyAll();
  }
}
