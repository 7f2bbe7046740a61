package innsigli;

import com.google.gson.Gson;
import eu.europa.esig.dss.enumerations.CommitmentTypeEnum;
import eu.europa.esig.dss.enumerations.DigestAlgorithm;
import eu.europa.esig.dss.enumerations.EncryptionAlgorithm;
import eu.europa.esig.dss.enumerations.ObjectIdentifierQualifier;
import eu.europa.esig.dss.enumerations.SignatureAlgorithm;
import eu.europa.esig.dss.enumerations.SignatureLevel;
import eu.europa.esig.dss.enumerations.SignaturePackaging;
import eu.europa.esig.dss.enumerations.ValidationDataEncapsulationStrategy;
import eu.europa.esig.dss.model.DSSDocument;
import eu.europa.esig.dss.model.FileDocument;
import eu.europa.esig.dss.model.Policy;
import eu.europa.esig.dss.model.SignatureValue;
import eu.europa.esig.dss.model.SignerLocation;
import eu.europa.esig.dss.model.TimestampParameters;
import eu.europa.esig.dss.model.x509.CertificateToken;
import eu.europa.esig.dss.pades.PAdESSignatureParameters;
import eu.europa.esig.dss.pades.signature.PAdESService;
import eu.europa.esig.dss.service.crl.OnlineCRLSource;
import eu.europa.esig.dss.service.ocsp.OnlineOCSPSource;
import eu.europa.esig.dss.service.tsp.OnlineTSPSource;
import eu.europa.esig.dss.signature.AbstractSignatureParameters;
import eu.europa.esig.dss.signature.AbstractSignatureService;
import eu.europa.esig.dss.spi.DSSSecurityProvider;
import eu.europa.esig.dss.spi.DSSUtils;
import eu.europa.esig.dss.spi.validation.CommonCertificateVerifier;
import eu.europa.esig.dss.spi.x509.CommonTrustedCertificateSource;
import eu.europa.esig.dss.xades.XAdESSignatureParameters;
import eu.europa.esig.dss.xades.signature.XAdESCounterSignatureParameters;
import eu.europa.esig.dss.xades.signature.XAdESService;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Signs PDF files with EU DSS, invisibly, and times it; or extends the signatures in them. With a
 * packaging it does so with XML files.
 *
 * <pre>
 * Sign --key key.pem --cert cert.pem [--chain issuer.pem]... [--root anchor.pem] [--tsa URL]
 *     [--packaging ENVELOPED] [--level B] [--runs 5] [--output folder] [--digest SHA512] [--with OPTION]...
 *     [--policy implicit|OID] [--data STRATEGY] [--counter ID] file...
 * Sign --extend --root anchor.pem --tsa URL --level LTA [--packaging ENVELOPED] [--runs 5]
 *     [--output folder] file...
 * </pre>
 *
 * Level B is the default; T, LT and LTA need the timestamp authority, LT and LTA the anchor too.
 * Responders and revocation lists are asked where the certificates say, in each run anew. RSA keys
 * sign with PKCS #1 v1.5, or by RSASSA-PSS with the option pss. Other options are content-timestamp,
 * commitment, role, place, vri (the VRI dictionaries of PDF) and key-info (which is signed then). The
 * strategy says where validation data is in XML, and a counter-signature is of the signature with that Id.
 *
 * <p>Prints one JSON object per line, one for each file: the median in seconds, from the file to the
 * signed document. Starting Java is not counted, and the first run is one in which classes are
 * loaded. With a folder, each signed file is written there under its own name.
 */
public final class Sign {
  private record Timing(String file, double seconds) {}

  private final CommonTrustedCertificateSource anchors = new CommonTrustedCertificateSource();
  private final List<CertificateToken> chain = new ArrayList<>();
  private final List<String> files = new ArrayList<>();
  private String key;
  private CertificateToken certificate;
  private String tsa;
  private String level = "B";
  private SignaturePackaging packaging;
  private boolean extend;
  private final Set<String> with = new HashSet<>();
  private DigestAlgorithm digest = DigestAlgorithm.SHA256;
  private String policy;
  private ValidationDataEncapsulationStrategy data;
  private String counter;
  private int runs = 5;
  private Path output;

  private Sign(String[] args) {
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--key" -> key = args[++i];
        case "--cert" -> certificate = DSSUtils.loadCertificate(new File(args[++i]));
        case "--chain" -> chain.add(DSSUtils.loadCertificate(new File(args[++i])));
        case "--root" -> anchors.addCertificate(DSSUtils.loadCertificate(new File(args[++i])));
        case "--tsa" -> tsa = args[++i];
        case "--level" -> level = args[++i];
        case "--packaging" -> packaging = SignaturePackaging.valueOf(args[++i]);
        case "--extend" -> extend = true;
        case "--with" -> with.add(args[++i]);
        case "--digest" -> digest = DigestAlgorithm.valueOf(args[++i]);
        case "--policy" -> policy = args[++i];
        case "--data" -> data = ValidationDataEncapsulationStrategy.valueOf(args[++i]);
        case "--counter" -> counter = args[++i];
        case "--runs" -> runs = Integer.parseInt(args[++i]);
        case "--output" -> output = Path.of(args[++i]);
        default -> files.add(args[i]);
      }
    }
  }

  public static void main(String[] args) throws IOException, GeneralSecurityException {
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    var sign = new Sign(args);
    for (String file : sign.files) {
      out.println(new Gson().toJson(sign.timed(file)));
    }
  }

  private Timing timed(String file) throws IOException, GeneralSecurityException {
    PrivateKey loaded = extend ? null : privateKey();
    var seconds = new double[runs];
    DSSDocument result = null;
    for (int run = 0; run < runs; run++) {
      long began = System.nanoTime();
      result =
          packaging == null
              ? result(file, loaded, new PAdESService(verifier()), padesParameters())
              : counter != null
                  ? counterSigned(file, loaded)
                  : result(file, loaded, new XAdESService(verifier()), xadesParameters());
      seconds[run] = (System.nanoTime() - began) / 1e9;
    }
    if (output != null) {
      result.save(output.resolve(Path.of(file).getFileName()).toString());
    }
    Arrays.sort(seconds);
    return new Timing(file, seconds[runs / 2]);
  }

  private <P extends AbstractSignatureParameters<?>> DSSDocument result(
      String file, PrivateKey key, AbstractSignatureService<P, ?> service, P parameters)
      throws GeneralSecurityException {
    var document = new FileDocument(file);
    var format = packaging == null ? "PAdES" : "XAdES";
    service.setTspSource(new OnlineTSPSource(tsa));
    parameters.setSignatureLevel(SignatureLevel.valueByName(format + "-BASELINE-" + level));
    parameters.setDigestAlgorithm(digest);
    if (data != null) {
      parameters.setValidationDataEncapsulationStrategy(data);
    }
    return extend
        ? service.extendDocument(document, parameters)
        : signed(document, key, service, parameters);
  }

  private <P extends AbstractSignatureParameters<?>> DSSDocument signed(
      DSSDocument document, PrivateKey key, AbstractSignatureService<P, ?> service, P parameters)
      throws GeneralSecurityException {
    describeSigner(parameters);
    if (with.contains("content-timestamp")) {
      ((TimestampParameters) parameters.getContentTimestampParameters()).setDigestAlgorithm(digest);
      parameters.setContentTimestamps(List.of(service.getContentTimestamp(document, parameters)));
    }
    var content = service.getDataToSign(document, parameters);
    return service.signDocument(document, parameters, value(key, parameters, content.getBytes()));
  }

  private DSSDocument counterSigned(String file, PrivateKey key) throws GeneralSecurityException {
    var service = new XAdESService(verifier());
    service.setTspSource(new OnlineTSPSource(tsa));
    var parameters = new XAdESCounterSignatureParameters();
    parameters.setSignatureIdToCounterSign(counter);
    parameters.setSignatureLevel(SignatureLevel.valueByName("XAdES-BASELINE-" + level));
    parameters.setDigestAlgorithm(digest);
    describeSigner(parameters);
    var document = new FileDocument(file);
    var content = service.getDataToBeCounterSigned(document, parameters);
    return service.counterSignSignature(document, parameters, value(key, parameters, content.getBytes()));
  }

  private SignatureValue value(PrivateKey key, AbstractSignatureParameters<?> parameters, byte[] content)
      throws GeneralSecurityException {
    SignatureAlgorithm algorithm = parameters.getSignatureAlgorithm();
    var signature = Signature.getInstance(algorithm.getJCEId(), DSSSecurityProvider.getSecurityProvider());
    signature.initSign(key);
    signature.update(content);
    return new SignatureValue(algorithm, signature.sign());
  }

  /** What is signed beside the document. */
  private void describeSigner(AbstractSignatureParameters<?> parameters) {
    parameters.setSigningCertificate(certificate);
    parameters.setCertificateChain(chain());
    if (with.contains("pss")) {
      parameters.setEncryptionAlgorithm(EncryptionAlgorithm.RSASSA_PSS);
    }
    var about = parameters.bLevel();
    if (policy != null) {
      about.setSignaturePolicy(policy());
    }
    if (with.contains("commitment")) {
      about.setCommitmentTypeIndications(List.of(CommitmentTypeEnum.ProofOfApproval));
    }
    if (with.contains("role")) {
      about.setClaimedSignerRoles(List.of("Director"));
    }
    if (with.contains("place")) {
      var place = new SignerLocation();
      place.setLocality("Reykjavík");
      place.setCountry("IS");
      about.setSignerLocation(place);
    }
  }

  /** With the digest of a document that is nowhere. */
  private Policy policy() {
    var named = new Policy();
    if (!policy.equals("implicit")) {
      named.setId(packaging == null ? policy : "urn:oid:" + policy);
      if (packaging != null) {
        named.setQualifier(ObjectIdentifierQualifier.OID_AS_URN);
      }
      named.setDigestAlgorithm(DigestAlgorithm.SHA256);
      named.setDigestValue(DSSUtils.digest(DigestAlgorithm.SHA256, policy.getBytes(StandardCharsets.UTF_8)));
    }
    return named;
  }

  private PAdESSignatureParameters padesParameters() {
    var parameters = new PAdESSignatureParameters();
    parameters.setIncludeVRIDictionary(with.contains("vri"));
    return parameters;
  }

  private XAdESSignatureParameters xadesParameters() {
    var parameters = new XAdESSignatureParameters();
    parameters.setSignaturePackaging(packaging);
    parameters.setSignKeyInfo(with.contains("key-info"));
    return parameters;
  }

  private CommonCertificateVerifier verifier() {
    var verifier = new CommonCertificateVerifier();
    verifier.setTrustedCertSources(anchors);
    verifier.setOcspSource(new OnlineOCSPSource());
    verifier.setCrlSource(new OnlineCRLSource());
    return verifier;
  }

  /** The signer's certificate comes first. */
  private List<CertificateToken> chain() {
    var all = new ArrayList<>(List.of(certificate));
    all.addAll(chain);
    return all;
  }

  private PrivateKey privateKey() throws IOException, GeneralSecurityException {
    byte[] der = DSSUtils.convertToDER(Files.readString(Path.of(key)));
    return KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
        .generatePrivate(new PKCS8EncodedKeySpec(der));
  }
}
