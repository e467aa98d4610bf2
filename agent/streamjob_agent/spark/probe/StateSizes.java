package io.streamjob.probe;

import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * Bytes that an executor would load from the checkpoint for a key group: the newest snapshot, the SST files it names
 * (RocksDB), and every change file after it.
 */
final class StateSizes {
  private static final int MOST_CACHED = 50000;
  private static final Pattern FILE =
      Pattern.compile("(\\d{1,18})(?:_[\\w-]+)?\\.(zip|snapshot|delta|changelog)");
  private static final Pattern SST = Pattern.compile("\"dfsSstFileName\"\\s*:\\s*\"([^\"]+)\"");
  private final LinkedHashMap snapshots = new LinkedHashMap(); // store's folder -> Snapshot, the newest that was opened

  /** What a RocksDB snapshot names: hundreds of files where the state is large, so older ones are not kept. */
  static final class Snapshot {
    String zip; // path and time
    String[] tables;
  }

  /** One state store's files. */
  static final class Store {
    final TreeMap changes = new TreeMap(); // Long version -> Long bytes
    final HashMap tables = new HashMap(); // SST name -> Long bytes
    long version = -1L;
    long bytes;
    Path zip;
    long zipTime;
  }

  /** One line each: operator, then the bytes of partitions 0.., empty where they cannot be known in time. */
  void write(Tracked query, long until, StringBuilder out) throws Exception {
    ArrayList operators = new ArrayList();
    Configuration hadoop;
    synchronized (query) {
      hadoop = query.hadoop; // null once the query has ended
      operators.addAll(query.planned && hadoop != null ? query.operators.values() : new ArrayList());
    }
    for (int i = 0; i < operators.size(); i++) {
      Operator operator = (Operator) operators.get(i);
      long[] bytes = ofAll(hadoop, query.root, operator, until);
      out.append(operator.id);
      for (int p = 0; p < bytes.length; p++) {
        out.append('\t').append(bytes[p] < 0L ? "" : String.valueOf(bytes[p]));
      }
      out.append('\n');
    }
  }

  /** Bytes of the stores of every operator that shares the stage. */
  private long[] ofAll(Configuration hadoop, String root, Operator operator, long until) throws Exception {
    long[] bytes = new long[operator.partitions];
    HashSet done = new HashSet();
    for (int s = 0; s < operator.stores.size(); s++) {
      Long id = (Long) ((Object[]) operator.stores.get(s))[0];
      if (done.add(id)) {
        long[] part = of(hadoop, root, id.longValue(), operator.partitions, until);
        for (int p = 0; p < part.length; p++) {
          bytes[p] = part[p] < 0L || bytes[p] < 0L ? -1L : bytes[p] + part[p];
        }
      }
    }
    return bytes;
  }

  /**
   * Bytes of each partition of one operator, from one recursive listing; -1 where a snapshot could not be opened by `until`
   * (System.nanoTime()): those opened by then are remembered, so that the next reading gets further.
   */
  synchronized long[] of(Configuration hadoop, String root, long operator, int partitions, long until) throws Exception {
    Path folder = new Path(root, String.valueOf(operator));
    Storage storage = new Storage(folder, hadoop);
    try {
      return listed(storage.files, folder, partitions, until);
    } finally {
      storage.leave();
    }
  }

  private long[] listed(FileSystem files, Path folder, int partitions, long until) throws Exception {
    long[] sizes = new long[partitions];
    if (files.exists(folder)) {
      Iterator stores = list(files, folder, until).entrySet().iterator();
      while (stores.hasNext()) {
        Map.Entry entry = (Map.Entry) stores.next();
        int partition = number((String) entry.getKey());
        if (partition >= 0 && partition < partitions) {
          long size = size(files, (Store) entry.getValue(), until);
          sizes[partition] = size < 0L || sizes[partition] < 0L ? -1L : sizes[partition] + size;
        }
      }
    }
    return sizes;
  }

  /**
   * Stores by their folder below the operator's: "3" or "3/left-keyToNumValues". Remote stores list a whole tree in a few
   * calls; on a local disk the same method starts a process for each file to learn its permissions, so folders are walked.
   */
  private static Map list(FileSystem files, Path folder, long until) throws Exception {
    HashMap stores = new HashMap();
    int skip = files.makeQualified(folder).toString().length() + 1;
    if ("file".equals(files.getUri().getScheme())) {
      walk(files, folder, skip, stores, until);
      return stores;
    }
    RemoteIterator all = files.listFiles(folder, true);
    while (all.hasNext()) {
      inTime(folder, until);
      add(stores, (FileStatus) all.next(), skip);
    }
    return stores;
  }

  private static void inTime(Path folder, long until) throws InterruptedIOException {
    if (late(until)) {
      throw new InterruptedIOException(folder + " has more files than can be listed in time");
    }
  }

  private static void walk(FileSystem files, Path folder, int skip, Map stores, long until) throws Exception {
    inTime(folder, until);
    FileStatus[] entries = files.listStatus(folder);
    for (int i = 0; i < entries.length; i++) {
      if (entries[i].isDirectory()) {
        walk(files, entries[i].getPath(), skip, stores, until);
      } else {
        add(stores, entries[i], skip);
      }
    }
  }

  private static void add(Map stores, FileStatus file, int skip) {
    String path = file.getPath().toString();
    int name = path.lastIndexOf('/');
    if (name > skip) {
      String parent = path.substring(skip, name);
      boolean table = parent.endsWith("/SSTs");
      String key = table ? parent.substring(0, parent.length() - 5) : parent;
      Store store = (Store) stores.get(key);
      if (store == null) {
        store = new Store();
        stores.put(key, store);
      }
      add(store, file, table);
    }
  }

  private static void add(Store store, FileStatus file, boolean table) {
    String name = file.getPath().getName();
    if (table) {
      store.tables.put(name, Long.valueOf(file.getLen()));
      return;
    }
    Matcher parts = FILE.matcher(name);
    if (!parts.matches()) {
      return;
    }
    long version = Long.parseLong(parts.group(1));
    boolean zip = "zip".equals(parts.group(2));
    if (zip || "snapshot".equals(parts.group(2))) {
      if (version > store.version) {
        store.version = version;
        store.bytes = file.getLen();
        store.zip = zip ? file.getPath() : null;
        store.zipTime = file.getModificationTime();
      }
    } else {
      store.changes.put(Long.valueOf(version), Long.valueOf(file.getLen()));
    }
  }

  private static boolean late(long until) {
    return System.nanoTime() - until >= 0L;
  }

  /** -1 when it cannot be known in time. */
  private long size(FileSystem files, Store store, long until) throws Exception {
    long total = store.version < 0L ? 0L : store.bytes;
    Iterator later = store.changes.tailMap(Long.valueOf(store.version + 1L)).values().iterator();
    while (later.hasNext()) {
      total += ((Long) later.next()).longValue();
    }
    String[] tables = store.zip == null ? new String[0] : tables(files, store, until);
    if (tables == null) {
      return -1L;
    }
    for (int i = 0; i < tables.length; i++) {
      Long bytes = (Long) store.tables.get(tables[i]);
      total += bytes == null ? 0L : bytes.longValue();
    }
    return total;
  }

  /** SST files named by a RocksDB snapshot; null when it is late. A snapshot never changes, so each is opened once. */
  private String[] tables(FileSystem files, Store store, long until) throws Exception {
    String zip = store.zip + " " + store.zipTime;
    String folder = String.valueOf(store.zip.getParent());
    Snapshot known = (Snapshot) snapshots.get(folder);
    if (known != null && known.zip.equals(zip)) {
      return known.tables;
    }
    if (late(until)) {
      return null;
    }
    Snapshot opened = new Snapshot();
    opened.zip = zip;
    opened.tables = read(files, store.zip);
    snapshots.remove(folder);
    snapshots.put(folder, opened);
    if (snapshots.size() > MOST_CACHED) {
      Iterator oldest = snapshots.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
    return opened.tables;
  }

  private static String[] read(FileSystem files, Path path) throws Exception {
    ZipInputStream zip = new ZipInputStream(files.open(path));
    try {
      ZipEntry entry = zip.getNextEntry();
      while (entry != null && !"metadata".equals(entry.getName())) {
        entry = zip.getNextEntry();
      }
      ArrayList names = new ArrayList();
      Matcher found = SST.matcher(entry == null ? "" : Binder.read(zip));
      while (found.find()) {
        names.add(found.group(1));
      }
      return (String[]) names.toArray(new String[0]);
    } finally {
      zip.close();
    }
  }

  private static int number(String key) {
    int slash = key.indexOf('/');
    String first = slash < 0 ? key : key.substring(0, slash);
    return first.matches("\\d{1,9}") ? Integer.parseInt(first) : -1;
  }
}
