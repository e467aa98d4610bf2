package io.streamjob.plugin;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import py4j.CallbackClient;
import py4j.GatewayServer;

/**
 * The agent's Python process and the gateway by which it reaches this driver: on loopback, for whoever has a secret that
 * is told through the pipe to that process alone. The process ends when the pipe does, however the driver ended.
 */
final class Child {
  private static final long GRACE_S = 3L; // for the agent to detach from Spark
  private final Desk desk;
  private GatewayServer gateway;
  private Process process;
  private volatile boolean ending;

  Child(Desk desk) {
    this.desk = desk;
  }

  void start(SparkConf conf) throws Exception {
    String secret = secret();
    gateway = gateway(secret);
    process = Interpreter.command(conf).start();
    watch();
    try {
      OutputStream pipe = process.getOutputStream();
      pipe.write((gateway.getListeningPort() + " " + secret + "\n").getBytes(StandardCharsets.US_ASCII));
      pipe.flush();
    } catch (IOException gone) {
      Door.LOG.debug("StreamJob agent: its Python has ended at once; who watches it says so: " + gone);
    }
  }

  void end() {
    ending = true;
    try {
      if (process != null) {
        process.getOutputStream().close();
        if (!process.waitFor(GRACE_S, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      }
    } catch (Exception error) {
      Door.LOG.debug("StreamJob agent: its Python did not end in good order: " + error);
    }
    if (gateway != null) {
      gateway.shutdown();
    }
  }

  /** Started from a thread that keeps no driver alive: its own threads inherit that. */
  private GatewayServer gateway(String secret) throws Exception {
    InetAddress here = InetAddress.getByName("127.0.0.1");
    GatewayServer.GatewayServerBuilder builder = new GatewayServer.GatewayServerBuilder(desk);
    // Nobody is called back; a client of py4j's own making would have a cleaner, whose thread keeps a driver alive.
    builder.callbackClient(new CallbackClient(0, here, 0L, TimeUnit.SECONDS));
    final GatewayServer made = builder.javaPort(0).javaAddress(here).authToken(secret).build();
    Thread starter = daemon("streamjob-gateway", new Runnable() {
      public void run() {
        made.start(true);
      }
    });
    starter.join();
    if (made.getListeningPort() <= 0) {
      throw new IOException("no port on 127.0.0.1 for the agent's Python");
    }
    return made;
  }

  private void watch() {
    daemon("streamjob-python", new Runnable() {
      public void run() {
        gone();
      }
    });
  }

  /** Waits for the end of the process; one that nobody asked for leaves nothing of the agent behind. */
  private void gone() {
    try {
      int code = process.waitFor();
      desk.ready();
      if (!ending) {
        Door.LOG.warn("StreamJob agent: its Python process has ended with " + code
            + ", its own words are above; the job goes on without the agent");
        gateway.shutdown();
      }
      desk.detach();
    } catch (Throwable error) {
      Door.LOG.debug("StreamJob agent: " + error);
    }
  }

  private static Thread daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static String secret() {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < bytes.length; i++) {
      text.append(Integer.toHexString(256 + (bytes[i] & 255)).substring(1));
    }
    return text.toString();
  }
}
