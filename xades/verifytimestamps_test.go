package xades_test

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

var archiveToken = regexp.MustCompile(`(?s)<xades141:ArchiveTimeStamp .*?(<xades:EncapsulatedTimeStamp>(.*?)</xades:EncapsulatedTimeStamp>)`)

// archivedBefore is a document that reached level LTA fifty days ago, and a timestamp authority
// whose certificate has expired since: an attacker may have its key by now.
type archivedBefore struct {
	*testing.T
	ca, expired *sandboxca.Authority
	made        time.Time
	document    []byte
}

func newArchivedBefore(t *testing.T) archivedBefore {
	began, made := time.Now().AddDate(0, 0, -60), time.Now().AddDate(0, 0, -50)
	a := archivedBefore{T: t, ca: catest.NewAt(t, began), expired: catest.NewAt(t, time.Now().AddDate(-5, 0, -30)), made: made}
	p := newPersonAt(t, a.ca, p256(t), began)
	a.document = extend(t, sign(t, []byte(contract), p, xades.Options{Time: made}), ades.LTA, a.ca.Sources(func() time.Time { return made }))
	return a
}

// backdated returns a token of the expired authority with a time before the signature, and
// validation data for it.
func (a archivedBefore) backdated(sum []byte) (token, values string) {
	a.Helper()
	when := time.Now().AddDate(0, 0, -150)
	der, err := a.expired.Sources(func() time.Time { return when }).Time.Timestamp(a.Context(), crypto.SHA256, sum)
	if err != nil {
		a.Fatal(err)
	}
	for _, c := range a.expired.Chain() {
		values += encapsulate("X509Certificate", c.Raw)
	}
	values = "<xades:CertificateValues>" + values + "</xades:CertificateValues><xades:RevocationValues><xades:CRLValues>"
	for _, list := range []func(time.Time) ([]byte, error){a.expired.CRL, a.expired.RootCRL} {
		crl, err := list(when.AddDate(0, 0, 1))
		if err != nil {
			a.Fatal(err)
		}
		values += encapsulate("CRLValue", crl)
	}
	values += "</xades:CRLValues></xades:RevocationValues>"
	return encapsulate("TimeStamp", der), `<xades141:TimeStampValidationData xmlns:xades141="http://uri.etsi.org/01903/v1.4.1#">` + values + "</xades141:TimeStampValidationData>"
}

func encapsulate(what string, der []byte) string {
	return "<xades:Encapsulated" + what + ">" + base64.StdEncoding.EncodeToString(der) + "</xades:Encapsulated" + what + ">"
}

// valueSum returns the digest that signature timestamps are over.
func (a archivedBefore) valueSum() []byte {
	a.Helper()
	d, err := xmldoc.Parse(a.document)
	if err != nil {
		a.Fatal(err)
	}
	for n := range d.Root().Descendants() {
		if n.Name().Local == "SignatureValue" {
			sum := sha256.New()
			if err := d.Canonicalize(sum, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{Apex: n}); err != nil {
				a.Fatal(err)
			}
			return sum.Sum(nil)
		}
	}
	a.Fatal("no value")
	return nil
}

// An archive timestamp proves the properties before it. It does not prove a timestamp that an
// attacker adds behind it or beside it, with the key of an authority that has expired (EN 319 102-1
// 5.6.3, EN 319 132-1 5.5.2.2). EU DSS agrees.
func TestTimestampsThatNoArchiveProves(t *testing.T) {
	t.Parallel()
	a := newArchivedBefore(t)
	const end = "</xades:UnsignedSignatureProperties>"
	behind, values := a.backdated(a.valueSum())
	method := `<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>`
	archived := archiveToken.FindStringSubmatch(string(a.document))
	der, err := base64.StdEncoding.DecodeString(archived[2])
	if err != nil {
		t.Fatal(err)
	}
	token, err := tsp.ParseToken(der)
	if err != nil {
		t.Fatal(err)
	}
	beside, more := a.backdated(token.Sum)
	for name, forged := range map[string][]byte{
		"behind": altered(t, a.document, end, values+`<xades:SignatureTimeStamp Id="late">`+method+behind+"</xades:SignatureTimeStamp>"+end),
		"beside": altered(t, altered(t, a.document, archived[1], beside+archived[1]), end, more+end),
	} {
		a.check(name, forged)
	}
}

func (a archivedBefore) check(name string, forged []byte) {
	a.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(a.ca.Root())
	pool.AddCert(a.expired.Root())
	report, err := xades.Verify(a.Context(), document(forged), ades.VerifyOptions{Roots: pool})
	if err != nil {
		a.Fatal(err)
	}
	got := report.Signatures[0]
	trusted := 0
	for _, s := range got.Timestamps {
		if !s.Intact {
			a.Errorf("%s: the timestamp of %v: %q", name, s.Time, s.Problems)
		}
		if s.Trusted {
			trusted++
		}
	}
	if len(got.Timestamps) != 3 || trusted != 2 || got.BestTime.Before(a.made.Truncate(time.Second)) || got.Indication != ades.TotalPassed {
		a.Errorf("%s: %d of %d timestamps are trusted, best %v for %v, %s %q", name, trusted, len(got.Timestamps), got.BestTime, a.made, got.SubIndication, got.Problems)
	}
	path := filepath.Join(a.TempDir(), name+".xml")
	writeFile(a, path, forged)
	for _, r := range validators.DSS(a, validators.DSSOptions{Roots: []*x509.Certificate{a.ca.Root(), a.expired.Root()}}, path) {
		if best := r.Signatures[0].BestTime; !best.Equal(got.BestTime) {
			a.Errorf("%s: EU DSS has the best time %v, we have %v", name, best, got.BestTime)
		}
	}
}
