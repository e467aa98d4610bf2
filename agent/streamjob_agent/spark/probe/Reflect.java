package io.streamjob.probe;

import java.lang.reflect.Method;
import java.util.concurrent.ConcurrentHashMap;
import scala.Option;

/** Calls methods whose classes moved between Spark versions, by name. */
final class Reflect {
  private static final ConcurrentHashMap METHODS = new ConcurrentHashMap();
  private static final Object NONE = new Object();

  private Reflect() {
  }

  /** The public method without parameters, or null when the class has none. */
  static Method find(Class type, String name) {
    String key = type.getName() + "#" + name;
    Object known = METHODS.get(key);
    if (known == null) {
      try {
        known = type.getMethod(name, new Class[0]);
      } catch (NoSuchMethodException missing) {
        known = NONE;
      }
      METHODS.put(key, known);
    }
    return known == NONE ? null : (Method) known;
  }

  static boolean has(Object target, String name) {
    return find(target.getClass(), name) != null;
  }

  static Object call(Object target, String name) throws Exception {
    Method method = find(target.getClass(), name);
    if (method == null) {
      throw new NoSuchMethodException(target.getClass().getName() + "." + name);
    }
    return method.invoke(target, new Object[0]);
  }

  /** The answer of a method that the target's class, or one that it extends, has, be it private; null when none has it. */
  static Object callDeclared(Object target, String name) throws Exception {
    for (Class type = target.getClass(); type != null; type = type.getSuperclass()) {
      try {
        Method method = type.getDeclaredMethod(name, new Class[0]);
        method.setAccessible(true);
        return method.invoke(target, new Object[0]);
      } catch (NoSuchMethodException missing) {
        // the next one may have it
      }
    }
    return null;
  }

  static long callLong(Object target, String name) throws Exception {
    return ((Number) call(target, name)).longValue();
  }

  /** The value of a Scala Option, or null. */
  static Object orNull(Object option) {
    Option some = (Option) option;
    return some.isDefined() ? some.get() : null;
  }
}
