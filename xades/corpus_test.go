package xades_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

const (
	valid       = "NO_CERTIFICATE_CHAIN_FOUND WHOLE_DOCUMENT intact"
	validInPart = "NO_CERTIFICATE_CHAIN_FOUND PARTIAL intact"
)

// corpusVerdicts are verdicts without a trust anchor: on files that were changed after they were signed, or that seem to
// have another signer, and on files with a counter-signature.
var corpusVerdicts = map[string]string{
	"XSW-enveloped-fake-content-misplaced.xml":                notFound,
	"XSW-enveloped-fake-content.xml":                          notFound,
	"XSW-enveloped-fake-signedProperties.xml":                 notFoundWhole + " intact",
	"XSW-enveloping-fake-manifest.xml":                        notFound,
	"disable-checks.xml":                                      notFound,
	"dss-signed-altered-refRemoved.xml":                       notFound,
	"dss-signed-altered-signedPropsRemoved.xml":               "SIG_CRYPTO_FAILURE WHOLE_DOCUMENT",
	"sigPolicyWithBrokenTransforms.xml":                       notFound,
	"dss-2506.xml":                                            "NO_SIGNING_CERTIFICATE_FOUND PARTIAL",
	"document-signed-xades-baseline-b--null-for-filename.xml": hashFailure,
	"valid-xades-policyId-newlines.xml":                       "HASH_FAILURE WHOLE_DOCUMENT",
	"xades-tampered-manifest.xml":                             hashFailure,

	"X-B-LT-with-counter-sig-X-E-ERS.xml":           valid + "; " + validInPart,
	"xades-counter-signature-injected.xml":          validInPart + "; " + hashFailure,
	"xades-counter-signature-no-type-invalid.xml":   valid + "; " + hashFailure,
	"xades-counter-signature-no-type.xml":           valid + "; " + validInPart,
	"xades-counter-signature-with-type-invalid.xml": validInPart + "; " + hashFailure,
	"xades-fake-counter-signature.xml":              valid + "; " + hashFailure,
}

// corpusTimestamps are files of the corpus with timestamps over other data, with the number of intact timestamps.
var corpusTimestamps = map[string]int{"xades-t-copied-sigtst.xml": 0, "xades-lta-corrupted-cert.xml": 1}

// intactOnlyHere has other properties in the place of the signed ones, which are moved and unchanged: the digests and the
// value are right, and the signed properties are not found.
const intactOnlyHere = "XSW-enveloped-fake-signedProperties.xml"

func foreignPaths(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no files: %v", err)
	}
	return all
}

// foreignReport returns the report on a file, which is empty for a file that cannot be read.
func foreignReport(t *testing.T, b []byte, o ades.VerifyOptions) *ades.Report {
	t.Helper()
	report, err := xades.Verify(t.Context(), document(b), o)
	if err != nil {
		return new(ades.Report)
	}
	return report
}

// TestCorpus verifies the files of the corpus without a trust anchor, where attacks are detected by what they change, and
// with the trust of [trustIn], where most files would pass. There, a signature passes and is intact only if it does and is
// in EU DSS. It also signs the files.
func TestCorpus(t *testing.T) {
	t.Parallel()
	paths := foreignPaths(t)
	var trusts []trust
	for _, path := range paths {
		b := readFile(t, path)
		report := foreignReport(t, b, ades.VerifyOptions{})
		trusts = append(trusts, trustIn(b, report))
		name := filepath.Base(path)
		if want := corpusVerdicts[name]; want != "" && verdict(report) != want {
			t.Errorf("%s: got %s, want %s", name, verdict(report), want)
		}
		if want, listed := corpusTimestamps[name]; listed {
			intact := 0
			for _, stamp := range report.Signatures[0].Timestamps {
				intact += count(stamp.Intact)
			}
			if intact != want {
				t.Errorf("%s: got %d intact timestamps, want %d", name, intact, want)
			}
		}
	}
	known := knownVerdicts(t, paths, trusts)
	passed, intact, made := 0, 0, 0
	p := newPerson(t, catest.New(t), p256(t))
	for i, path := range paths {
		name := filepath.Base(path)
		b := readFile(t, path)
		made += signForeign(t, p, name, b)
		ours := foreignReport(t, b, ades.VerifyOptions{Roots: pool(trusts[i].roots), Time: trusts[i].at})
		theirs := known[name]
		if ours.Passed() && slices.ContainsFunc(theirs, func(v dssVerdict) bool { return v.indication != string(ades.TotalPassed) }) {
			t.Errorf("%s: passes, and EU DSS: %+v", name, theirs)
		}
		for _, s := range ours.Signatures { // several of the same Id are in the same order
			var dss dssVerdict
			if n := slices.IndexFunc(theirs, func(v dssVerdict) bool { return v.id == s.Name }); n >= 0 {
				dss = theirs[n]
				theirs = slices.Delete(slices.Clone(theirs), n, n+1)
			}
			if s.Passed() && dss.indication != string(ades.TotalPassed) || s.Intact && !dss.intact && name != intactOnlyHere {
				t.Errorf("%s, %s: got %s, intact %t, and EU DSS: %+v", name, s.Name, s.Indication, s.Intact, dss)
			}
			passed, intact = passed+count(s.Passed()), intact+count(s.Intact)
		}
	}
	t.Logf("figure: trusting each file's own authorities at its time, %d signatures pass here, and %d are intact", passed, intact)
	t.Logf("figure: %d signatures were made, %d refused", made, len(paths)*len(packings)-made)
}

// signForeign signs a file in each packing and returns how many signatures are made. In a signed document, each signature is
// intact, except for data outside of the document, and the new one covers the whole document.
func signForeign(t *testing.T, p person, name string, b []byte) (made int) {
	t.Helper()
	for _, k := range packings {
		r, err := xades.Sign(t.Context(), document(b), p.key, p.signer, k.options(), ades.Sources{})
		if err != nil {
			continue
		}
		made++
		for _, s := range verify(t, apply(t, b, r), p.ca) {
			own := s.Certificate != nil && s.Certificate.Equal(p.signer.Certificate)
			outside := s.SubIndication == ades.SignedDataNotFound && strings.Contains(s.Problems[0], "xmldsig: reference: ")
			if own && s.Coverage != ades.WholeDocument || !s.Intact && !outside {
				t.Errorf("%s, then %s: %q is %s, %s: %q", name, k.name, s.Name, s.SubIndication, s.Coverage, s.Problems)
			}
		}
	}
	return made
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// trust is what a file is verified with.
type trust struct {
	roots []*x509.Certificate
	at    time.Time
}

// trustIn returns the certificates in a file that end its chains, and the time shortly after the last signature or
// timestamp, when its certificates were valid.
func trustIn(b []byte, report *ades.Report) trust {
	all := embeddedCertificates(b)
	roots := slices.DeleteFunc(slices.Clone(all), func(c *x509.Certificate) bool {
		issuer := slices.ContainsFunc(all, func(by *x509.Certificate) bool { return bytes.Equal(by.RawSubject, c.RawIssuer) })
		return !bytes.Equal(c.RawIssuer, c.RawSubject) && (issuer || !c.IsCA)
	})
	var times []time.Time
	for _, s := range report.Signatures {
		times = append(times, s.ClaimedTime)
		for _, stamp := range s.Timestamps {
			times = append(times, stamp.Time)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	at := time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC) // for a file without a time, or with a later one
	if n := len(times); n > 0 && !times[n-1].IsZero() && !times[n-1].After(at) {
		at = times[n-1].Add(time.Minute).Truncate(time.Second)
	}
	return trust{roots, at}
}

var encapsulated = regexp.MustCompile(`(?s)<[\w:]*(?:X509Certificate|EncapsulatedX509Certificate|EncapsulatedTimeStamp)\b[^>]*>([^<]*)<`)

// embeddedCertificates returns the certificates in KeyInfo, in validation data and in timestamps.
func embeddedCertificates(b []byte) (all []*x509.Certificate) {
	for _, match := range encapsulated.FindAllSubmatch(b, -1) {
		der, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(match[1]), nil)))
		if err != nil {
			continue
		}
		if c, err := x509.ParseCertificate(der); err == nil {
			all = append(all, c)
		} else if token, err := tsp.ParseToken(der); err == nil {
			all = append(all, token.Certificates...)
		}
	}
	slices.SortFunc(all, func(a, b *x509.Certificate) int { return bytes.Compare(a.Raw, b.Raw) })
	return slices.CompactFunc(all, (*x509.Certificate).Equal)
}

func pool(roots []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range roots {
		pool.AddCert(c)
	}
	return pool
}

// dssVerdict is the verdict of EU DSS on one signature.
type dssVerdict struct {
	id, format, indication, subIndication string
	intact                                bool
}

// verdictsFile has the verdicts of EU DSS on the corpus with the trust of [trustIn], a line for each signature: file, Id,
// format, indication, sub-indication, and whether it is intact. INNSIGLI_FULL=1 writes it.
const verdictsFile = "testdata/dss.tsv"

// knownVerdicts returns the verdicts by file. With INNSIGLI_FULL=1, EU DSS validates all files, otherwise every twelfth
// file and those of corpusVerdicts, for which its verdicts have to be those of verdictsFile.
func knownVerdicts(t *testing.T, paths []string, trusts []trust) map[string][]dssVerdict {
	t.Helper()
	if testenv.Full() {
		lines := askDSS(t, paths, trusts, func(int) bool { return true })
		writeFile(t, verdictsFile, []byte(lines))
		return parseVerdicts(t, lines)
	}
	stored := parseVerdicts(t, string(readFile(t, verdictsFile)))
	t.Run("EU DSS", func(t *testing.T) {
		lines := askDSS(t, paths, trusts, func(i int) bool {
			return i%12 == 0 || corpusVerdicts[filepath.Base(paths[i])] != ""
		})
		for name, now := range parseVerdicts(t, lines) {
			if diff := cmp.Diff(stored[name], now, cmp.AllowUnexported(dssVerdict{})); diff != "" {
				t.Errorf("%s of %s (-stored +EU DSS):\n%s", verdictsFile, name, diff)
			}
		}
	})
	return stored
}

// askDSS returns the lines of verdictsFile for some of the files.
func askDSS(t *testing.T, paths []string, trusts []trust, asked func(int) bool) string {
	t.Helper()
	var lines strings.Builder
	for i, path := range paths {
		if !asked(i) {
			continue
		}
		options := validators.DSSOptions{Roots: trusts[i].roots, At: trusts[i].at, RevocationOptional: true}
		for _, v := range validators.DSS(t, options, path)[0].Signatures {
			fmt.Fprintf(&lines, "%s\t%s\t%s\t%s\t%s\t%t\n", filepath.Base(path), v.ID, v.Format, v.Indication, v.SubIndication, v.Intact && v.Valid)
		}
	}
	return lines.String()
}

func parseVerdicts(t *testing.T, lines string) map[string][]dssVerdict {
	t.Helper()
	all := make(map[string][]dssVerdict)
	for line := range strings.Lines(lines) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(c) != 6 {
			t.Fatalf("%s: malformed line %q", verdictsFile, line)
		}
		all[c[0]] = append(all[c[0]], dssVerdict{c[1], c[2], c[3], c[4], c[5] == "true"})
	}
	return all
}
