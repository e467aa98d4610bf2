package io.streamjob.probe;

import java.lang.reflect.Method;
import java.util.List;
import org.apache.spark.sql.execution.SparkPlan;
import scala.None$;
import scala.Tuple2;

/**
 * What a stream-stream join opens its stores by, two for each side: its tasks open them by themselves, not by an RDD. From
 * format 3 on all are column families of one store, which is left out as others of that kind are.
 */
final class JoinRecipes {
  private static final String STATE = "org.apache.spark.sql.execution.streaming.state.";
  private static final long ONE_STORE = 3L; // from this format on

  private JoinRecipes() {
  }

  static void add(SparkPlan join, List found) throws Exception {
    long format = Reflect.callLong(join, "stateFormatVersion");
    Object conf = hidden(join, "storeConf");
    if (format >= ONE_STORE || !Recipes.staysOpen(conf)) {
      return;
    }
    Object info = Reflect.orNull(Reflect.call(join, "stateInfo"));
    for (int i = 0; i < Binder.JOIN_STORES.length; i++) {
      Tuple2 schemas = schemas(join, Binder.JOIN_STORES[i], (int) format);
      Object[] parts = {
        schemas._1(), schemas._2(), spec(join, schemas._1()), None$.MODULE$, Boolean.FALSE, conf,
        hidden(join, "hadoopConfBcast"), Boolean.FALSE
      };
      found.add(new Recipe(Reflect.callLong(info, "operatorId"), Binder.JOIN_STORES[i], i, Recipes.named(conf), parts));
    }
  }

  /** Of keys and of values, by Spark's own function for the side. */
  private static Tuple2 schemas(SparkPlan join, String store, int format) throws Exception {
    boolean left = store.startsWith("left");
    Object manager = module(join, join.getClass().getPackage().getName() + ".SymmetricHashJoinStateManager$");
    Object side = module(join, join.getClass().getPackage().getName() + ".StreamingSymmetricHashJoinHelper$"
        + (left ? "LeftSide$" : "RightSide$"));
    SparkPlan input = (SparkPlan) Reflect.call(join, left ? "left" : "right");
    Object[] of = {side, input.output(), Reflect.call(join, left ? "leftKeys" : "rightKeys"), Integer.valueOf(format)};
    Object all = method(manager, "getSchemaForStateStores").invoke(manager, of);
    return (Tuple2) ((scala.collection.Map) all).apply(store);
  }

  private static Object spec(SparkPlan join, Object keys) throws Exception {
    Class type = join.getClass().getClassLoader().loadClass(STATE + "NoPrefixKeyStateEncoderSpec");
    return type.getConstructor(new Class[] {keys.getClass()}).newInstance(new Object[] {keys});
  }

  private static Object module(SparkPlan join, String name) throws Exception {
    return join.getClass().getClassLoader().loadClass(name).getField("MODULE$").get(null);
  }

  /** What Scala keeps private has the class's name before its own. */
  private static Object hidden(SparkPlan join, String name) throws Exception {
    return method(join, join.getClass().getName().replace('.', '$') + "$$" + name).invoke(join, new Object[0]);
  }

  private static Method method(Object of, String name) throws Exception {
    Method[] all = of.getClass().getMethods();
    for (int i = 0; i < all.length; i++) {
      if (all[i].getName().equals(name)) {
        return all[i];
      }
    }
    throw new NoSuchMethodException(of.getClass().getName() + "." + name);
  }
}
