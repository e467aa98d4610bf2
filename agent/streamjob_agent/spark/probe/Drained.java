package io.streamjob.probe;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;

/**
 * One drain: lines of text, and a row of numbers for each key group, which are many. The rows follow each other in the order of
 * the lines G that say how many there are. Python reads them without looking at each character: as text, since the gateway would
 * make a Python number of each byte of an array.
 */
final class Drained {
  private static final int ROW_BYTES = 128;
  final StringBuilder text = new StringBuilder();
  private final HashMap places = new HashMap(); // executor id -> Integer, its place in `executors`
  private final ArrayList executors = new ArrayList();
  private ByteBuffer rows = ByteBuffer.allocate(64 * ROW_BYTES).order(ByteOrder.LITTLE_ENDIAN);

  /** Room for one row more, to be filled as `ROW` of Python's codec says. */
  ByteBuffer row() {
    if (rows.remaining() < ROW_BYTES) {
      ByteBuffer larger = ByteBuffer.allocate(2 * rows.capacity()).order(ByteOrder.LITTLE_ENDIAN);
      rows.flip();
      rows = larger.put(rows);
    }
    return rows;
  }

  /** The number that stands for an executor; -1 for none. */
  int place(String executor) {
    if (executor == null) {
      return -1;
    }
    Integer known = (Integer) places.get(executor);
    if (known == null) {
      known = Integer.valueOf(executors.size());
      places.put(executor, known);
      executors.add(executor);
    }
    return known.intValue();
  }

  /** In Base64: the length of the text in bytes, the text, whose last line N names executors by their numbers, and the rows. */
  String encoded() throws Exception {
    text.append('N');
    for (int i = 0; i < executors.size(); i++) {
      text.append('\t').append(executors.get(i));
    }
    byte[] lines = text.append('\n').toString().getBytes("UTF-8");
    byte[] all = new byte[4 + lines.length + rows.position()];
    ByteBuffer out = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(lines.length).put(lines).put(rows.array(), 0, rows.position());
    return Base64.getEncoder().encodeToString(all);
  }
}
