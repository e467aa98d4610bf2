import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.MapStatus;

/** Stands in for what one map of a shuffle wrote; counts the sizes that are read, and those read under a monitor. */
public final class Monitored implements InvocationHandler {
  private MapStatus behind;
  private Object monitor;
  private int calls;
  private int held;

  public void watch(SparkContext context, int shuffle, int map, Object monitor) throws Exception {
    this.monitor = monitor;
    Object scheduler = context.taskScheduler();
    Object known = scheduler.getClass().getMethod("mapOutputTracker", new Class[0]).invoke(scheduler, new Object[0]);
    ShuffleStatus status = (ShuffleStatus) ((MapOutputTrackerMaster) known).shuffleStatuses().get(Integer.valueOf(shuffle)).get();
    behind = status.mapStatuses()[map];
    Class[] faces = new Class[] {MapStatus.class};
    status.mapStatuses()[map] = (MapStatus) Proxy.newProxyInstance(MapStatus.class.getClassLoader(), faces, this);
  }

  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if ("getSizeForBlock".equals(method.getName())) {
      calls++;
      held += Thread.holdsLock(monitor) ? 1 : 0;
    }
    return method.invoke(behind, arguments);
  }
}
