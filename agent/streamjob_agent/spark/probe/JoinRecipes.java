package io.streamjob.probe;

import java.lang.reflect.Method;
import java.util.List;
import org.apache.spark.sql.execution.SparkPlan;
import scala.None$;
import scala.Tuple2;

/**
 * What a stream-stream join opens its stores by: its tasks open them by themselves, not by an RDD. There are two for each side,
 * from format 3 on they are column families of one.
 */
final class JoinRecipes {
  private static final String STATE = "org.apache.spark.sql.execution.streaming.state.";
  private static final String SCHEMAS = "getSchemaForStateStores";
  private static final int ONE_STORE = 3; // from this format on
  private static final String[] ONE = {"default"};

  private JoinRecipes() {
  }

  /** Whether a node joins two streams. */
  static boolean joins(SparkPlan node) {
    return node.getClass().getSimpleName().startsWith("StreamingSymmetricHashJoin");
  }

  static void add(SparkPlan join, List found) throws Exception {
    int format = (int) Reflect.callLong(join, "stateFormatVersion");
    Object conf = hidden(join, "storeConf");
    if (!Recipes.staysOpen(conf) || !tells(manager(join))) {
      return;
    }
    long operator = Reflect.callLong(Reflect.orNull(Reflect.call(join, "stateInfo")), "operatorId");
    boolean one = format >= ONE_STORE;
    String[] stores = one ? ONE : Binder.JOIN_STORES;
    for (int i = 0; i < stores.length; i++) {
      Tuple2 schemas = one ? first(join, format) : schemas(join, stores[i], format);
      Object[] parts = {
        schemas._1(), schemas._2(), spec(join, schemas._1()), None$.MODULE$, Boolean.valueOf(one), conf,
        hidden(join, "hadoopConfBcast"), Boolean.FALSE
      };
      found.add(new Recipe(operator, stores[i], i, Recipes.named(conf), parts));
    }
  }

  /** The one store is opened by the schemas of its first family, in format 4 by a column that is always null. */
  private static Tuple2 first(SparkPlan join, int format) throws Exception {
    if (format == ONE_STORE) {
      return schemas(join, Binder.JOIN_STORES[0], format);
    }
    Object none = schemas(join, "left-tsWithKey", format)._2();
    return new Tuple2(none, none);
  }

  /** Of keys and of values, by Spark's own function for the side. */
  private static Tuple2 schemas(SparkPlan join, String store, int format) throws Exception {
    boolean left = store.startsWith("left");
    Object manager = manager(join);
    Object side = module(join, beside(join) + "StreamingSymmetricHashJoinHelper$" + (left ? "LeftSide$" : "RightSide$"));
    SparkPlan input = (SparkPlan) Reflect.call(join, left ? "left" : "right");
    Object[] of = {side, input.output(), Reflect.call(join, left ? "leftKeys" : "rightKeys"), Integer.valueOf(format)};
    Object all = method(manager, SCHEMAS).invoke(manager, of);
    return (Tuple2) ((scala.collection.Map) all).apply(store);
  }

  /** Spark 3.5 does not: only its tasks know their schemas. */
  private static boolean tells(Object manager) {
    Method[] all = manager.getClass().getMethods();
    boolean found = false;
    for (int i = 0; i < all.length; i++) {
      found |= all[i].getName().equals(SCHEMAS);
    }
    return found;
  }

  /** Before Spark 4.1 it was among the stores. */
  private static Object manager(SparkPlan join) throws Exception {
    try {
      return module(join, beside(join) + "SymmetricHashJoinStateManager$");
    } catch (ClassNotFoundException early) {
      return module(join, STATE + "SymmetricHashJoinStateManager$");
    }
  }

  private static String beside(SparkPlan join) {
    return join.getClass().getPackage().getName() + ".";
  }

  private static Object spec(SparkPlan join, Object keys) throws Exception {
    Class type = join.getClass().getClassLoader().loadClass(STATE + "NoPrefixKeyStateEncoderSpec");
    return type.getConstructor(new Class[] {keys.getClass()}).newInstance(new Object[] {keys});
  }

  private static Object module(SparkPlan join, String name) throws Exception {
    return join.getClass().getClassLoader().loadClass(name).getField("MODULE$").get(null);
  }

  /** What Scala keeps private has the class's name before its own. */
  static Object hidden(SparkPlan join, String name) throws Exception {
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
