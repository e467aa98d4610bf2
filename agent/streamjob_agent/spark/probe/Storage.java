package io.streamjob.probe;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The file system of a path, for a moment. Where Hadoop is told to keep none for everybody (fs.SCHEME.impl.disable.cache) it has
 * made one for us alone, of an object store with threads and connections, which nobody else would ever close.
 */
final class Storage {
  final FileSystem files;
  private final boolean ours;

  Storage(Path path, Configuration hadoop) throws IOException {
    files = path.getFileSystem(hadoop);
    ours = hadoop.getBoolean("fs." + files.getUri().getScheme() + ".impl.disable.cache", false);
  }

  void leave() throws IOException {
    if (ours) {
      files.close();
    }
  }
}
