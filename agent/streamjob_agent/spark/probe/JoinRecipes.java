package io.streamjob.probe;

import java.lang.reflect.Method;
import java.util.List;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.NullType$;
import org.apache.spark.sql.types.StructType;
import scala.None$;
import scala.Tuple2;

/**
 * What a stream-stream join opens its stores by, two for each side, or from format 3 on one for all: its tasks open them by
 * themselves, not by an RDD. That one is opened by what its first column family in format 3 is made of, in format 4 by nothing.
 */
final class JoinRecipes {
  private static final String STATE = "org.apache.spark.sql.execution.streaming.state.";
  private static final long ONE_STORE = 3L; // from this format on

  private JoinRecipes() {
  }

  static void add(SparkPlan join, List found) throws Exception {
    long format = Reflect.callLong(join, "stateFormatVersion");
    Object conf = hidden(join, "storeConf");
    if (!Recipes.staysOpen(conf)) {
      return;
    }
    Object info = Reflect.orNull(Reflect.call(join, "stateInfo"));
    boolean one = format >= ONE_STORE;
    for (int i = 0; i < (one ? 1 : Binder.JOIN_STORES.length); i++) {
      Tuple2 schemas = format > ONE_STORE ? nothing() : schemas(join, Binder.JOIN_STORES[i], (int) format);
      Object[] parts = {
        schemas._1(), schemas._2(), spec(join, schemas._1()), None$.MODULE$, Boolean.valueOf(one), conf,
        hidden(join, "hadoopConfBcast"), Boolean.FALSE
      };
      String store = one ? "default" : Binder.JOIN_STORES[i];
      found.add(new Recipe(Reflect.callLong(info, "operatorId"), store, i, Recipes.named(conf), parts));
    }
  }

  /** As Spark opens a store none of whose rows are in its default column family. */
  private static Tuple2 nothing() {
    StructType none = new StructType().add("dummy", NullType$.MODULE$, true);
    return new Tuple2(none, none);
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
