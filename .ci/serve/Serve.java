package innsigli;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Runs the programs beside it in one Java, which takes longer to start than most of what they do.
 *
 * <pre>
 * Serve            answers standard input on standard output
 * Serve socket     answers whoever connects to a Unix socket, each in a thread
 * </pre>
 *
 * <p>Each line of the input is a JSON array, the name of a program and its arguments, and is
 * answered with what the program prints and an empty line. What a program throws ends the answers:
 * with the process, or with the connection, where the stack trace is the last that is sent.
 */
public final class Serve {
  /** Where the programs of a thread print to. */
  private static final ThreadLocal<OutputStream> PRINTED = new ThreadLocal<>();

  public static void main(String[] args) throws Exception {
    if (args.length == 0) {
      answer(System.in, System.out);
      return;
    }
    System.setOut(new PrintStream(new OfThread(), true, StandardCharsets.UTF_8));
    try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(args[0]));
      while (true) {
        var connection = server.accept();
        new Thread(() -> answer(connection)).start();
      }
    }
  }

  private static void answer(SocketChannel connection) {
    try (connection) {
      var out = new PrintStream(Channels.newOutputStream(connection), false, StandardCharsets.UTF_8);
      PRINTED.set(out);
      try {
        answer(Channels.newInputStream(connection), out);
      } catch (Throwable e) {
        e.printStackTrace(out);
        out.flush();
      }
    } catch (IOException e) {
      e.printStackTrace();
    }
  }

  private static void answer(InputStream in, PrintStream out) throws Exception {
    var lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      String[] words = new Gson().fromJson(line, String[].class);
      var program = Class.forName("innsigli." + words[0]).getMethod("main", String[].class);
      program.invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
      out.println();
      out.flush();
    }
  }

  /** Standard output, which is another one in each thread. */
  private static final class OfThread extends OutputStream {
    @Override
    public void write(int b) throws IOException {
      PRINTED.get().write(b);
    }

    @Override
    public void write(byte[] b, int from, int length) throws IOException {
      PRINTED.get().write(b, from, length);
    }

    @Override
    public void flush() throws IOException {
      PRINTED.get().flush();
    }
  }
}
