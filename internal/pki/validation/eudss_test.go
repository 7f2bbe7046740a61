package validation_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
	hold = 6 // certificateHold
	// collected is when the data was collected that states a revocation, after the signature.
	collected = 10 * day
)

// verdict is the result of a validation. The zero value: EU DSS has none, because it threw an exception.
type verdict struct {
	indication    ades.Indication
	subIndication ades.SubIndication
}

var (
	totalPassed           = verdict{ades.TotalPassed, ""}
	tryLater              = verdict{ades.Indeterminate, ades.TryLater}
	chainFailure          = verdict{ades.Indeterminate, ades.CertificateChainGeneralFailure}
	weak                  = verdict{ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE}
	revokedCA             = verdict{ades.Indeterminate, ades.RevokedCANoPOE}
	outOfBounds           = verdict{ades.Indeterminate, ades.OutOfBoundsNoPOE}
	revocationOutOfBounds = verdict{ades.Indeterminate, ades.RevocationOutOfBoundsNoPOE}
	notRevoked            = verdict{ades.Indeterminate, ades.OutOfBoundsNotRevoked}
)

// signedFile is a signed file in which an event may have happened, such as the revocation of a certificate.
type signedFile struct {
	format
	*pki
	level ades.Level
	event string
	b     []byte
}

// difference is a verdict that may differ from that of EU DSS, with the reason.
type difference struct {
	reason       string
	file         string // matches the level and the event of the file
	ours, theirs []verdict
}

// differences are all of them. In none a signature passes that does not pass in EU DSS.
var differences = []difference{
	{"no revocation data: EN 319 102-1 5.2.6.4 requires TRY_LATER, EU DSS reports a fault of the chain",
		`^(B|T) `, []verdict{tryLater}, []verdict{chainFailure}},
	{"no timestamp is trusted, and the data is older than the validation: EN 319 102-1 5.2.5.4 requires newer data, the default policy of EU DSS does not",
		`^(LT|LTA) `, []verdict{tryLater}, []verdict{totalPassed}},
	{"the issuer was revoked, and the signer has expired since: EU DSS checks the second only (EN 319 102-1 5.2.6.4)",
		` issuer `, []verdict{revokedCA}, []verdict{totalPassed, outOfBounds, notRevoked}},
	{"the issuer was revoked later, and there is no POE for the data about the signer: EN 319 102-1 5.6.2.2 requires one, EU DSS only if the responder is not valid",
		` issuer `, []verdict{revocationOutOfBounds, outOfBounds}, []verdict{totalPassed, revokedCA}},
	{"the signer was revoked later and has expired, and so has the responder: EU DSS requires a POE for the data only if no certificate was revoked (EN 319 102-1 5.6.2.3)",
		` signer `, []verdict{outOfBounds}, []verdict{totalPassed}},
	{"the certificate has expired while it was on hold: a later attempt would not help",
		` on hold$`, []verdict{outOfBounds}, []verdict{tryLater, notRevoked}},
	{"the responder that states the hold has expired, and there is no POE for the data: EU DSS accepts it (EN 319 102-1 5.6.2.3)",
		` on hold$`, []verdict{revocationOutOfBounds}, []verdict{tryLater}},
}

// noVerdict is the reason of a difference if EU DSS throws a NullPointerException.
const noVerdict = "EU DSS has no verdict"

// TestPastSignaturesAsEUDSS validates signatures of every level before and after certificates expired or were revoked,
// and compares the verdicts with those of EU DSS (EN 319 102-1 5.5 and 5.6). No signature passes that does not pass
// there. INNSIGLI_FULL=1 validates all, and requires that each difference occurs.
func TestPastSignaturesAsEUDSS(t *testing.T) {
	t.Parallel()
	validities := [][2]time.Duration{{100 * day, 5 * year}, {5 * year, 300 * day}, {400 * day, 60 * day}, {100 * day, 300 * day}} // of signer, timestamp authority
	every := 1
	if !testenv.Full() {
		validities, every = validities[:1], 23
	}
	n, seen := 0, make(map[string]bool)
	for _, v := range validities {
		for _, f := range signedFiles(t, v[0], v[1]) {
			for _, after := range []time.Duration{
				-36 * time.Hour, 2 * time.Minute, 20 * day, 70 * day, 110 * day, 310 * day, 370 * day, 420 * day, 3 * year, 6 * year, 11 * year, 22 * year,
			} {
				if n++; n%every == 0 {
					seen[f.compare(t, after)] = true
				}
			}
		}
	}
	reasons := []string{noVerdict}
	for _, d := range differences {
		reasons = append(reasons, d.reason)
	}
	for _, reason := range reasons {
		if testenv.Full() && !seen[reason] {
			t.Errorf("no verdict differs for this reason: %s", reason)
		}
	}
}

// compare validates a file at a time after the signature, and returns the reason of a difference from EU DSS.
func (f signedFile) compare(t *testing.T, after time.Duration) string {
	t.Helper()
	ours, theirs, details := f.verdicts(t, f.pki, f.b, f.signed.Add(after))
	switch theirs {
	case ours:
		return ""
	case verdict{}:
		return noVerdict
	}
	file := fmt.Sprintf("%v %s", f.level, f.event)
	i := slices.IndexFunc(differences, func(d difference) bool {
		return slices.Contains(d.ours, ours) && slices.Contains(d.theirs, theirs) && regexp.MustCompile(d.file).MatchString(file)
	})
	if i < 0 || ours == totalPassed {
		t.Errorf("%s %s, signer valid for %v and timestamp authority for %v, validated after %v: got %v, EU DSS %v: %s", f.name, file,
			f.signer.Certificate.NotAfter.Sub(f.signed), f.unit.Certificate.NotAfter.Sub(f.signed), after, ours, theirs, details)
		return ""
	}
	return differences[i].reason
}

// verdicts validates a signed file, by this module and by EU DSS.
func (f format) verdicts(t *testing.T, p *pki, b []byte, at time.Time) (ours, theirs verdict, details string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "signed."+f.name)
	testenv.NoError(t, os.WriteFile(path, b, 0o600))
	report := f.verify(t, b, p, at)
	foreign := validators.DSS(t, validators.DSSOptions{Roots: p.roots(), At: at}, path)[0]
	for _, s := range foreign.Signatures {
		theirs = verdict{ades.Indication(s.Indication), ades.SubIndication(s.SubIndication)}
	}
	return verdict{report.Indication, report.SubIndication}, theirs, fmt.Sprintf("%q %+v", report.Problems, foreign)
}

// signedFiles returns files of signers and timestamp authorities with these validities after the signature: without any
// event, and with each certificate revoked or on hold before or after the signature.
func signedFiles(t *testing.T, signer, stamper time.Duration) (all []signedFile) {
	t.Helper()
	for _, f := range formats {
		fresh := func() *pki {
			return newPKI(t, time.Now().Add(-40*day), certtest.NewKey(t, elliptic.P256()), signer, stamper)
		}
		all = append(all, f.files(t, fresh(), "", time.Minute)...)
		for i := range fresh().certificates() {
			for _, after := range []time.Duration{-time.Hour, time.Hour} {
				for _, reason := range []int{1, hold} {
					all = append(all, f.revokedFiles(t, fresh(), i, after, reason)...)
				}
			}
		}
	}
	return all
}

// files returns a file of each level. The validation data is from a time after the signature.
func (f format) files(t *testing.T, p *pki, event string, after time.Duration) []signedFile {
	t.Helper()
	stamped := f.sign(t, p, ades.T)
	complete := f.extend(t, stamped, ades.LT, p.sources(after))
	archived := f.extend(t, complete, ades.LTA, p.sources(after+time.Minute))
	return []signedFile{
		{f, p, ades.B, event, f.sign(t, p, ades.B)}, {f, p, ades.T, event, stamped}, {f, p, ades.LT, event, complete}, {f, p, ades.LTA, event, archived},
	}
}

// revokedFiles returns files whose validation data states that the certificate with this index was revoked: data that was
// collected later or, if Extend would refuse that, lists that are added to data from before.
func (f format) revokedFiles(t *testing.T, p *pki, index int, after time.Duration, reason int) []signedFile {
	t.Helper()
	c := p.certificates()[index]
	event := fmt.Sprintf("%s %v later", c.name, after)
	if reason == hold {
		event += ", on hold"
	}
	if c.name == "signer" && after > 0 {
		c.by.Revoke(c.serial, p.signed.Add(after), reason)
		return f.files(t, p, event, collected)[2:]
	}
	if f.addLists == nil {
		return nil
	}
	b := f.extend(t, f.sign(t, p, ades.T), ades.LT, p.sources(time.Minute))
	c.by.Revoke(c.serial, p.signed.Add(after), reason)
	list, err := c.by.CRL(p.signed.Add(collected))
	testenv.NoError(t, err)
	rootList, err := c.by.RootCRL(p.signed.Add(collected))
	testenv.NoError(t, err)
	return []signedFile{{f, p, ades.LT, event, f.addLists(t, b, list, rootList)}}
}

// TestPastAlgorithmsAsEUDSS validates signatures with a key of 1536 bits, which is accepted until October 2019
// (ETSI TS 119 312). A signature with a POE from before remains valid (EN 319 102-1 5.6.2.3), also in EU DSS.
func TestPastAlgorithmsAsEUDSS(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 1536)
	testenv.NoError(t, err)
	signed := time.Date(2015, time.June, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name               string
		stamped, validated time.Duration // after the signature
		level              ades.Level
		want               verdict
	}{
		{"stamped and validated before the end", 0, 100 * day, ades.LT, totalPassed},
		{"stamped before the end, archived, and validated after it", 0, 6 * year, ades.LTA, totalPassed},
		{"stamped after the end", 5 * year, 5*year + day, ades.LT, weak},
		{"stamped after the end, and archived", 5 * year, 6 * year, ades.LTA, weak},
	} {
		for _, f := range formats {
			p := newPKI(t, signed, key, 20*year, 20*year)
			for _, a := range []*sandboxca.Authority{p.signing, p.stamping} {
				_, err := a.Renew(signed.Add(test.stamped))
				testenv.NoError(t, err)
			}
			b := f.extend(t, f.signByDSS(t, p), ades.T, p.sources(test.stamped))
			b = f.extend(t, b, test.level, p.sources(test.stamped+time.Minute))
			ours, theirs, details := f.verdicts(t, p, b, signed.Add(test.validated))
			if ours != test.want || theirs != test.want {
				t.Errorf("%s, %s: got %v, EU DSS %v, want %v: %s", f.name, test.name, ours, theirs, test.want, details)
			}
		}
	}
}

// signByDSS has EU DSS sign at level B, which it does with any key.
func (f format) signByDSS(t *testing.T, p *pki) []byte {
	t.Helper()
	options := validators.SignOptions{Key: p.key, Certificate: p.signer.Certificate, Chain: p.signer.Chain, Level: "B"}
	b := pdftest.Build(pdftest.Options{})
	if f.name == "xml" {
		options.Packaging, b = "ENVELOPED", []byte(contract)
	}
	path := filepath.Join(t.TempDir(), "plain."+f.name)
	testenv.NoError(t, os.WriteFile(path, b, 0o600))
	return testenv.ReadFile(t, validators.DSSSign(t, options, path)[0].Path)
}

// format signs, extends and verifies files of one format.
type format struct {
	name     string // also the extension of files
	sign     func(*testing.T, *pki, ades.Level) []byte
	extend   func(*testing.T, []byte, ades.Level, ades.Sources) []byte
	verify   func(*testing.T, []byte, *pki, time.Time) ades.SignatureReport
	addLists func(*testing.T, []byte, ...[]byte) []byte // to the validation data; nil: not possible
}

var formats = []format{
	{"pdf", signPDF, extendPDF, verifyPDF, nil},
	{"xml", signXML, extendXML, verifyXML, addListsXML},
}

func pdfDocument(b []byte) pades.Document {
	return pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

func signPDF(t *testing.T, p *pki, level ades.Level) []byte {
	t.Helper()
	b := pdftest.Build(pdftest.Options{})
	pending, err := pades.Prepare(t.Context(), pdfDocument(b), p.signer, pades.Options{Level: level, Time: p.signed})
	testenv.NoError(t, err)
	r, err := pending.Sign(t.Context(), p.key, pkiAt{p, p.signed})
	testenv.NoError(t, err)
	return append(b, r.Bytes...)
}

func extendPDF(t *testing.T, b []byte, level ades.Level, s ades.Sources) []byte {
	t.Helper()
	revisions, err := pades.Extender{Sources: s}.Extend(t.Context(), pdfDocument(b), level)
	testenv.NoError(t, err)
	b = bytes.Clone(b)
	for _, r := range revisions {
		b = append(b, r.Bytes...)
	}
	return b
}

func verifyPDF(t *testing.T, b []byte, p *pki, at time.Time) ades.SignatureReport {
	t.Helper()
	report, err := pades.Verify(t.Context(), pdfDocument(b), ades.VerifyOptions{Roots: certtest.Pool(p.roots()...), Time: at})
	testenv.NoError(t, err)
	return report.Signatures[0]
}

const contract = "<contract>What is agreed</contract>"

func xmlDocument(b []byte) xades.Document {
	return xades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

func readXML(t *testing.T, doc xades.Document) []byte {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(doc, 0, doc.Size))
	testenv.NoError(t, err)
	return b
}

func signXML(t *testing.T, p *pki, level ades.Level) []byte {
	t.Helper()
	doc := xmlDocument([]byte(contract))
	pending, err := xades.Prepare(t.Context(), doc, p.signer, xades.Options{Level: level, Time: p.signed})
	testenv.NoError(t, err)
	r, err := pending.Sign(t.Context(), p.key, pkiAt{p, p.signed})
	testenv.NoError(t, err)
	return readXML(t, doc.With(r))
}

func extendXML(t *testing.T, b []byte, level ades.Level, s ades.Sources) []byte {
	t.Helper()
	doc := xmlDocument(b)
	revisions, err := xades.Extender{Sources: s}.Extend(t.Context(), doc, level)
	testenv.NoError(t, err)
	for _, r := range revisions {
		doc = doc.With(r)
	}
	return readXML(t, doc)
}

func verifyXML(t *testing.T, b []byte, p *pki, at time.Time) ades.SignatureReport {
	t.Helper()
	report, err := xades.Verify(t.Context(), xmlDocument(b), ades.VerifyOptions{Roots: certtest.Pool(p.roots()...), Time: at})
	testenv.NoError(t, err)
	return report.Signatures[0]
}

// addListsXML adds lists to the first RevocationValues.
func addListsXML(t *testing.T, b []byte, lists ...[]byte) []byte {
	t.Helper()
	const end = "</xades:CRLValues>"
	added := ""
	for _, der := range lists {
		added += "<xades:EncapsulatedCRLValue>" + base64.StdEncoding.EncodeToString(der) + "</xades:EncapsulatedCRLValue>"
	}
	if !bytes.Contains(b, []byte(end)) {
		t.Fatal("the signature contains no lists")
	}
	return bytes.Replace(b, []byte(end), []byte(added+end), 1)
}

// pki is a signer and a timestamp authority, below different roots. Each issuer has its own responder.
type pki struct {
	signing, stamping *sandboxca.Authority
	signed            time.Time // of the signature
	key               crypto.Signer
	signer            ades.SignerIdentity
	unit              tsp.Unit
}

// newPKI returns a pki whose signer and timestamp authority are valid for a while after the signature.
func newPKI(t *testing.T, signed time.Time, key crypto.Signer, signer, stamper time.Duration) *pki {
	t.Helper()
	p := &pki{signed: signed.Truncate(time.Second), key: key}
	issue := func(by **sandboxca.Authority, template *x509.Certificate, key crypto.Signer, valid time.Duration) *x509.Certificate {
		var err error
		*by, err = sandboxca.New(p.signed.Add(-2 * day))
		testenv.NoError(t, err)
		template.BasicConstraintsValid, template.NotBefore, template.NotAfter = true, p.signed.Add(-day), p.signed.Add(valid)
		cert, err := (*by).IssueProfile(template, key.Public())
		testenv.NoError(t, err)
		return cert
	}
	p.signer.Certificate = issue(&p.signing, &x509.Certificate{
		Subject: pkix.Name{CommonName: "A signer"}, KeyUsage: x509.KeyUsageContentCommitment,
	}, key, signer)
	p.signer.Chain = p.signing.Chain()
	timeStamping, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})
	testenv.NoError(t, err)
	p.unit = tsp.Unit{Key: certtest.NewKey(t, elliptic.P256()), Policy: asn1.ObjectIdentifier{2, 999, 1}}
	p.unit.Certificate = issue(&p.stamping, &x509.Certificate{
		Subject: pkix.Name{CommonName: "A timestamp authority"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: timeStamping}},
	}, p.unit.Key, stamper)
	p.unit.Chain = p.stamping.Chain()
	return p
}

// revocable is a certificate by its serial number, and the authority that can revoke it.
type revocable struct {
	name   string
	by     *sandboxca.Authority
	serial *big.Int
}

// certificates returns the certificates that can be revoked.
func (p *pki) certificates() []revocable {
	return []revocable{
		{"signer", p.signing, p.signer.Certificate.SerialNumber},
		{"issuer of signers", p.signing, p.signing.Chain()[0].SerialNumber},
		{"timestamp authority", p.stamping, p.unit.Certificate.SerialNumber},
		{"issuer of timestamp authorities", p.stamping, p.stamping.Chain()[0].SerialNumber},
	}
}

func (p *pki) roots() []*x509.Certificate {
	return []*x509.Certificate{p.signing.Root(), p.stamping.Root()}
}

// sources returns the sources of both authorities at a time after the signature.
func (p *pki) sources(after time.Duration) ades.Sources {
	at := pkiAt{p, p.signed.Add(after)}
	return ades.Sources{Time: at, Revocation: at, Issuers: at, Roots: certtest.Pool(p.roots()...)}
}

// pkiAt is an [ades.Timestamper], [ades.Revocation] and [ades.Issuers]: both authorities at a time.
type pkiAt struct {
	*pki
	at time.Time
}

func (p pkiAt) sourcesOf(cert *x509.Certificate) ades.Sources {
	clock := func() time.Time { return p.at }
	for _, issuer := range append(p.signing.Chain(), p.signing.Root()) {
		if cert.CheckSignatureFrom(issuer) == nil {
			return p.signing.Sources(clock)
		}
	}
	return p.stamping.Sources(clock)
}

func (p pkiAt) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	return p.unit.Create(tsp.Request{Hash: h, Sum: sum, Certificates: true}, p.at)
}

func (p pkiAt) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	return p.sourcesOf(cert).Revocation.Revocation(ctx, cert, issuer, notBefore)
}

func (p pkiAt) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	return p.sourcesOf(cert).Issuers.Issuers(ctx, cert)
}
