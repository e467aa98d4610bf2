package streamjob.benchmarks;

import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Local files whose permissions stay as they are made: without native libraries each one set would fork a process. */
public final class PlainFiles extends LocalFileSystem {
  public PlainFiles() {
    super(new Raw());
    setWriteChecksum(false);
  }

  private static final class Raw extends RawLocalFileSystem {
    public void setPermission(Path file, FsPermission permission) {
    }
  }
}
