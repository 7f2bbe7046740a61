package innsigli;

import com.google.gson.GsonBuilder;
import eu.europa.esig.dss.diagnostic.DiagnosticData;
import eu.europa.esig.dss.diagnostic.SignatureWrapper;
import eu.europa.esig.dss.jaxb.object.Message;
import eu.europa.esig.dss.model.FileDocument;
import eu.europa.esig.dss.simplereport.SimpleReport;
import eu.europa.esig.dss.spi.DSSUtils;
import eu.europa.esig.dss.spi.validation.CommonCertificateVerifier;
import eu.europa.esig.dss.spi.x509.CommonTrustedCertificateSource;
import eu.europa.esig.dss.validation.SignedDocumentValidator;
import eu.europa.esig.dss.validation.reports.Reports;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Validates files offline with EU DSS and prints one JSON object per line, one for each file in the
 * order given. What DSS is allowed to see is the file and the trust anchors: no OCSP, CRL or AIA
 * source is set, so revocation counts only where it is embedded.
 *
 * <pre>Validate [--root anchor.pem]... [--revocation-optional] [--at 2026-01-31T12:00:00Z] file...</pre>
 *
 * The policy is the default one of DSS. --revocation-optional lowers the two constraints that no
 * signature of level B or T can meet offline from FAIL to WARN, and nothing else. --at is the time
 * of the validation; without, it is the present.
 */
public final class Validate {
  private static final Pattern REVOCATION_REQUIRED =
      Pattern.compile("<(RevocationDataAvailable|AcceptableRevocationDataFound) Level=\"FAIL\"");

  private record Finding(String key, String text) {}

  private record Signature(
      String id,
      String format,
      String indication,
      String subIndication,
      boolean intact,
      boolean valid,
      List<String> scopes,
      List<String> structure,
      boolean modified,
      int undefinedChanges,
      String signedBy,
      Date signingTime,
      Date bestSignatureTime,
      List<Finding> errors,
      List<Finding> warnings) {}

  private record Timestamp(
      String type,
      String indication,
      String subIndication,
      boolean intact,
      String producedBy,
      Date productionTime,
      List<Finding> errors,
      List<Finding> warnings) {}

  private record Report(
      String file, String error, List<Signature> signatures, List<Timestamp> timestamps) {}

  private final CommonTrustedCertificateSource anchors = new CommonTrustedCertificateSource();
  private final List<String> files = new ArrayList<>();
  private byte[] policy = defaultPolicy();
  private Date time;

  private Validate(String[] args) throws IOException {
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--root" -> anchors.addCertificate(DSSUtils.loadCertificate(new File(args[++i])));
        case "--revocation-optional" -> policy = withoutRevocation(policy);
        case "--at" -> time = Date.from(Instant.parse(args[++i]));
        default -> files.add(args[i]);
      }
    }
  }

  public static void main(String[] args) throws IOException {
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    var json =
        new GsonBuilder().setDateFormat("yyyy-MM-dd'T'HH:mm:ssXXX").create();
    var validate = new Validate(args);
    for (String file : validate.files) {
      out.println(json.toJson(validate.report(file)));
    }
  }

  /** A file that DSS cannot read, or that makes it recurse without end, must not end the run. */
  private Report report(String file) {
    try {
      var reports = reports(file);
      return new Report(file, null, signatures(reports), timestamps(reports));
    } catch (RuntimeException | StackOverflowError e) {
      return new Report(file, e.toString(), List.of(), List.of());
    }
  }

  private Reports reports(String file) {
    var verifier = new CommonCertificateVerifier();
    verifier.setTrustedCertSources(anchors);
    verifier.setAIASource(null);
    var validator = SignedDocumentValidator.fromDocument(new FileDocument(file));
    validator.setCertificateVerifier(verifier);
    validator.setLocale(Locale.ENGLISH);
    if (time != null) {
      validator.setValidationTime(time);
    }
    return validator.validateDocument(new ByteArrayInputStream(policy));
  }

  private static List<Signature> signatures(Reports reports) {
    SimpleReport simple = reports.getSimpleReport();
    DiagnosticData diagnostic = reports.getDiagnosticData();
    return simple.getSignatureIdList().stream()
        .map(
            id -> {
              var token = diagnostic.getSignatureById(id);
              return new Signature(
                  name(token.getDAIdentifier()),
                  name(simple.getSignatureFormat(id)),
                  name(simple.getIndication(id)),
                  name(simple.getSubIndication(id)),
                  token.isSignatureIntact(),
                  token.isSignatureValid(),
                  simple.getSignatureScopes(id).stream().map(s -> name(s.getScope())).toList(),
                  structure(token),
                  token.arePdfModificationsDetected(),
                  token.getPdfUndefinedChanges().size(),
                  simple.getSignedBy(id),
                  simple.getSigningTime(id),
                  simple.getBestSignatureTime(id),
                  findings(simple.getAdESValidationErrors(id)),
                  findings(simple.getAdESValidationWarnings(id)));
            })
        .toList();
  }

  /** What is against the schema of XAdES; of other formats DSS checks something else, or nothing. */
  private static List<String> structure(SignatureWrapper token) {
    if (token.isStructuralValidationValid()) {
      return List.of();
    }
    var messages = token.getStructuralValidationMessages();
    return messages.isEmpty() ? List.of("not valid, and no message") : messages;
  }

  private static List<Timestamp> timestamps(Reports reports) {
    SimpleReport simple = reports.getSimpleReport();
    return reports.getDiagnosticData().getTimestampList().stream()
        .map(
            token ->
                new Timestamp(
                    name(token.getType()),
                    name(simple.getIndication(token.getId())),
                    name(simple.getSubIndication(token.getId())),
                    token.isMessageImprintDataIntact() && token.isSignatureIntact(),
                    simple.getProducedBy(token.getId()),
                    token.getProductionTime(),
                    findings(simple.getAdESValidationErrors(token.getId())),
                    findings(simple.getAdESValidationWarnings(token.getId()))))
        .toList();
  }

  private static List<Finding> findings(List<Message> messages) {
    return messages.stream().map(m -> new Finding(m.getKey(), m.getValue())).toList();
  }

  /** The names in the reports and not the Java ones: "PAdES-BASELINE-B", not "PAdES_BASELINE_B". */
  private static String name(Object value) {
    return Objects.toString(value, "");
  }

  private static byte[] defaultPolicy() throws IOException {
    try (var stream = Validate.class.getResourceAsStream("/policy/constraint.xml")) {
      return Objects.requireNonNull(stream, "default policy").readAllBytes();
    }
  }

  private static byte[] withoutRevocation(byte[] policy) {
    var matcher = REVOCATION_REQUIRED.matcher(new String(policy, StandardCharsets.UTF_8));
    if (matcher.results().count() == 0) {
      throw new IllegalStateException("the default policy requires no revocation: nothing to lower");
    }
    return matcher.replaceAll("<$1 Level=\"WARN\"").getBytes(StandardCharsets.UTF_8);
  }
}
