package innsigli;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Runs the programs beside it in one Java, which takes longer to start than most of what they do.
 *
 * <p>Each line of standard input is a JSON array, the name of a program and its arguments, and is
 * answered with what the program prints and an empty line. What a program throws ends this one.
 */
public final class Serve {
  public static void main(String[] none) throws Exception {
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      String[] words = new Gson().fromJson(line, String[].class);
      var program = Class.forName("innsigli." + words[0]).getMethod("main", String[].class);
      program.invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
      System.out.println();
      System.out.flush();
    }
  }
}
