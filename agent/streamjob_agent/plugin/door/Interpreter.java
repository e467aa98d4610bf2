package io.streamjob.plugin;

import java.io.File;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.python.PythonUtils;

/** How the agent's Python is started: by the interpreter that Spark takes for a driver, with Spark's own libraries. */
final class Interpreter {
  private static final String PATH = "PYTHONPATH";

  private Interpreter() {}

  static ProcessBuilder command(SparkConf conf) {
    // -P: what lies in the driver's working directory is none of the agent's modules.
    ProcessBuilder builder = new ProcessBuilder(new String[] {name(conf), "-P", "-m", "streamjob_agent", "plugin"});
    Map env = builder.environment();
    String given = (String) env.get(PATH);
    String ours = PythonUtils.sparkPythonPath();
    env.put(PATH, given == null || given.length() == 0 ? ours : ours + File.pathSeparator + given);
    return builder.redirectOutput(ProcessBuilder.Redirect.INHERIT).redirectError(ProcessBuilder.Redirect.INHERIT);
  }

  private static String name(SparkConf conf) {
    String[] choices = new String[] {
      conf.get("spark.pyspark.driver.python", ""), conf.get("spark.pyspark.python", ""),
      System.getenv("PYSPARK_DRIVER_PYTHON"), System.getenv("PYSPARK_PYTHON")
    };
    for (int i = 0; i < choices.length; i++) {
      if (choices[i] != null && choices[i].length() > 0) {
        return choices[i];
      }
    }
    return "python3";
  }
}
