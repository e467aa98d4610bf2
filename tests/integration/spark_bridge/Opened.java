import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.viewfs.ViewFileSystem;

/** A file system that tells how many of it are open. */
public class Opened extends ViewFileSystem {
  public static volatile int open;

  public Opened() throws IOException {}

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    open++;
  }

  @Override
  public void close() throws IOException {
    super.close();
    open--;
  }
}
