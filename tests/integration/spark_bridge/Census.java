import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/** How many things the probe's objects keep, by class and field: lines "Class.field", tab, number. */
public final class Census {
  private final IdentityHashMap seen = new IdentityHashMap();
  private final TreeMap counts = new TreeMap(); // String -> int[1]

  public String of(Object root) throws Exception {
    seen.clear();
    counts.clear();
    walk(root, null);
    StringBuilder out = new StringBuilder();
    Iterator each = counts.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      out.append(entry.getKey()).append('\t').append(((int[]) entry.getValue())[0]).append('\n');
    }
    return out.toString();
  }

  private void walk(Object thing, String where) throws Exception {
    if (thing == null || seen.put(thing, thing) != null) {
      return;
    }
    if (thing instanceof Map) {
      count(where, ((Map) thing).size());
      all(((Map) thing).values(), where);
    } else if (thing instanceof Collection) {
      count(where, ((Collection) thing).size());
      all((Collection) thing, where);
    } else if (thing instanceof Object[]) {
      for (int i = 0; i < Array.getLength(thing); i++) {
        walk(Array.get(thing, i), where);
      }
    } else if (thing.getClass().getName().startsWith("io.streamjob.probe")) {
      fields(thing);
    }
  }

  private void all(Collection things, String where) throws Exception {
    Iterator each = things.iterator();
    while (each.hasNext()) {
      walk(each.next(), where);
    }
  }

  private void fields(Object thing) throws Exception {
    String type = thing.getClass().getName();
    Field[] fields = thing.getClass().getDeclaredFields();
    for (int i = 0; i < fields.length; i++) {
      if (!Modifier.isStatic(fields[i].getModifiers())) {
        fields[i].setAccessible(true);
        Object value = fields[i].get(thing);
        String where = type.substring(type.lastIndexOf('.') + 1) + "." + fields[i].getName();
        if (value instanceof Map || value instanceof Collection || value instanceof Object[]) {
          walk(value, where);
        } else if (value != null && value.getClass().getName().startsWith("org.apache.hadoop.conf")) {
          count(where, 1);
        } else {
          walk(value, where);
        }
      }
    }
  }

  private void count(String where, int size) {
    int[] known = (int[]) counts.get(where);
    if (known == null) {
      known = new int[1];
      counts.put(where, known);
    }
    known[0] += size;
  }
}
