package e2e.compatibility;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;

/** A user's Java job, with no word of StreamJob: `CountsJob FOLDER CHECKPOINT` counts until FOLDER/stop appears. */
public final class CountsJob {
  public static void main(String[] words) throws Exception {
    final File folder = new File(words[0]);
    SparkSession spark = SparkSession.builder().appName("compatibility").getOrCreate();
    spark.sparkContext().setLogLevel("WARN");
    StreamingQuery query = start(spark, folder, words[1]);
    while (!new File(folder, "stop").exists() && query.isActive()) {
      if (new File(folder, "count").exists()) {
        tell(spark.sparkContext(), folder, "before.json");
        new File(folder, "count").delete();
      }
      Thread.sleep(200L);
    }
    query.processAllAvailable();
    query.stop();
    tell(spark.sparkContext(), folder, "told.json");
    // The session is left to the end of the JVM, as many programs do.
  }

  private static StreamingQuery start(SparkSession spark, File folder, String checkpoint) throws Exception {
    final File said = new File(folder, "said");
    said.mkdirs();
    Dataset lines = spark.readStream().schema("k string, v long, t long").option("maxFilesPerTrigger", 1L)
        .csv(folder + "/input");
    Dataset counts = lines.groupBy("k", new String[0]).agg(
        functions.count("*").as("n"), new Column[] {functions.sum("v").as("s")});
    DataStreamWriter writer = counts.writeStream().queryName("counts").outputMode("update");
    writer.option("checkpointLocation", checkpoint);
    VoidFunction2 sink = new VoidFunction2() {
      public void call(Object frame, Object batch) throws Exception {
        write(new File(said, batch + ".json"), ((Dataset) frame).toJSON().collectAsList().toString());
      }
    };
    return writer.foreachBatch(sink).start();
  }

  private static void tell(SparkContext context, File folder, String name) throws Exception {
    long failed = 0;
    scala.collection.Iterator each = context.statusStore().executorList(false).iterator();
    while (each.hasNext()) {
      failed += ((org.apache.spark.status.api.v1.ExecutorSummary) each.next()).failedTasks();
    }
    String java = System.getProperty("java.version");
    write(new File(folder, name), "{\"failed_tasks\": " + failed + ", \"java\": \"" + java + "\"}");
  }

  /** Whole at once; a batch that is run again replaces its own. */
  static void write(File file, String text) throws Exception {
    File draft = new File(file.getPath() + ".draft");
    Files.write(draft.toPath(), text.getBytes("UTF-8"));
    Files.move(draft.toPath(), file.toPath(), StandardCopyOption.REPLACE_EXISTING);
  }
}
