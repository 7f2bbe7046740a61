package innsigli;

import com.google.gson.Gson;
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.logging.LogManager;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;

/**
 * Checks files against profiles of PDF/A and PDF/UA with veraPDF and prints one JSON object per line,
 * one for each file in the order given.
 *
 * <pre>Conform profile file [profile file]...</pre>
 *
 * Profiles are named as veraPDF names them: 1b, 2a, 3b, 4, ua1.
 */
public final class Conform {
  private record Failure(String clause, int test, String text, String object) {}

  private record Report(
      String file, String profile, String error, boolean compliant, List<Failure> failures) {}

  public static void main(String[] args) {
    LogManager.getLogManager().reset(); // what veraPDF remarks while parsing is no verdict
    VeraGreenfieldFoundryProvider.initialise();
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    var json = new Gson();
    for (int i = 0; i + 1 < args.length; i += 2) {
      out.println(json.toJson(report(args[i], args[i + 1])));
    }
  }

  /** A file that veraPDF cannot read, or that makes it recurse without end, must not end the run. */
  private static Report report(String profile, String file) {
    try {
      return check(profile, file);
    } catch (Exception | StackOverflowError e) {
      return new Report(file, profile, e.toString(), false, List.of());
    }
  }

  private static Report check(String profile, String file) throws Exception {
    var flavour = PDFAFlavour.byFlavourId(profile);
    if (flavour == PDFAFlavour.NO_FLAVOUR) {
      throw new IllegalArgumentException("no profile " + profile);
    }
    var foundry = Foundries.defaultInstance();
    try (var parser = foundry.createParser(new File(file), flavour);
        var validator = foundry.createValidator(flavour, false)) {
      var result = validator.validate(parser);
      var failures = result.getTestAssertions().stream().map(Conform::failure).toList();
      return new Report(file, profile, "", result.isCompliant(), failures);
    }
  }

  private static Failure failure(TestAssertion assertion) {
    var rule = assertion.getRuleId();
    return new Failure(
        rule.getClause(),
        rule.getTestNumber(),
        Objects.toString(assertion.getErrorMessage(), assertion.getMessage()),
        Objects.toString(assertion.getLocation().getContext(), ""));
  }
}
