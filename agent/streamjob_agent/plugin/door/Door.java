package io.streamjob.plugin;

import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the agent's Python while the context is made, ends it with the context. Whatever fails, the driver goes on. */
public final class Door implements DriverPlugin {
  static final Logger LOG = LoggerFactory.getLogger(Door.class);
  private static final String PLUGINS = "spark.plugins";
  private static final String MARK = "spark.streamjob.plugin"; // one agent in a driver: who installs another sees it
  private static final long PATIENCE_MS = 20000L; // the driver waits no longer: Python comes within a second or two
  private Child child;

  /** Called before there is a scheduler: settings that are put in now are as good as the user's own. */
  public Map init(SparkContext context, PluginContext ignored) {
    try {
      withdraw(context.conf());
      context.conf().set(MARK, "true");
      Desk desk = new Desk(context);
      child = new Child(desk);
      child.start(context.conf());
      desk.awaitReady(PATIENCE_MS);
    } catch (Throwable error) { // an Error, too: a class that this driver lacks
      LOG.warn("StreamJob agent: not started, the job goes on without it: " + error);
      shutdown();
    }
    return Collections.emptyMap();
  }

  public void shutdown() {
    if (child != null) {
      child.end();
    }
  }

  /** Executors read the setting, too, and one that does not find the class does not start: it is the driver's alone. */
  private static void withdraw(SparkConf conf) {
    String[] names = conf.get(PLUGINS, "").split(",");
    StringBuilder others = new StringBuilder();
    for (int i = 0; i < names.length; i++) {
      String name = names[i].trim();
      if (name.length() > 0 && !name.equals(StreamJobPlugin.class.getName())) {
        others.append(others.length() == 0 ? "" : ",").append(name);
      }
    }
    conf.set(PLUGINS, others.toString());
  }
}
