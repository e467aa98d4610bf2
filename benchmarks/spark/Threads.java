package streamjob.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;

/** CPU time of the JVM's threads: lines number, name, ns; the asking one is left out. Python may not call the beans themselves. */
public final class Threads {
  public String spent() {
    ThreadMXBean beans = ManagementFactory.getThreadMXBean();
    ThreadInfo[] all = beans.getThreadInfo(beans.getAllThreadIds());
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < all.length; i++) {
      if (all[i] != null && all[i].getThreadId() != Thread.currentThread().getId()) {
        out.append(all[i].getThreadId()).append('\t').append(all[i].getThreadName()).append('\t');
        out.append(beans.getThreadCpuTime(all[i].getThreadId())).append('\n');
      }
    }
    return out.toString();
  }

  /** CPU time of the whole JVM, ns. */
  public long whole() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }
}
