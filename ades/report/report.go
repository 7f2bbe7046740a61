// Package report writes the result of a validation as JSON for programs, and as a text for people,
// in Icelandic and English.
//
//	result, err := pades.Verify(ctx, document, ades.VerifyOptions{Roots: roots})
//	if err != nil {
//		return err
//	}
//	d := report.New("contract.pdf", result)
//	return d.Text(os.Stdout, report.Icelandic)
//
// [Document] is the JSON that "innsigli verify --json" prints, and [Schema] describes it. Later
// versions may add members, and never remove or rename one. Every member is always present: an
// unknown text is "", an empty list is [], and only a certificate may be null.
//
// The text states first whether the reader can rely on the document. Then it states who signed,
// when, what the signature covers and what happened afterwards. The terms of ETSI EN 319 102-1
// follow in brackets. The messages of the validation come last, in English. Content of the
// document, such as names, is shown without anything that could look like another part of the text:
// without control characters, direction marks and line ends, and shortened to a few lines.
package report

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Document is the report on one file.
type Document struct {
	File       string      `json:"file"`
	Passed     bool        `json:"passed"` // [ades.Report.Passed]
	Signatures []Signature `json:"signatures"`
	Error      string      `json:"error"`    // why there is no validation result
	Problems   []string    `json:"problems"` // [ades.Report.Problems]
}

// Signature is the report on one signature, [ades.SignatureReport].
type Signature struct {
	Name          string              `json:"name"`
	Format        string              `json:"format"`
	Indication    ades.Indication     `json:"indication"`
	SubIndication ades.SubIndication  `json:"subIndication"`
	Intact        bool                `json:"intact"`
	Coverage      ades.Coverage       `json:"coverage"`
	Counter       bool                `json:"counterSignature"` // [ades.SignatureReport.CounterSignature]
	Extended      bool                `json:"extended"`         // [ades.SignatureReport.Extended]
	CoveredBytes  int64               `json:"coveredBytes"`
	Signer        string              `json:"signer"`       // common name of the certificate
	SerialNumber  string              `json:"serialNumber"` // of the person, from the certificate
	Issuer        string              `json:"issuer"`       // common name
	ClaimedTime   Time                `json:"claimedTime"`
	BestTime      Time                `json:"bestTime"` // [ades.SignatureReport.BestTime]
	JudgedAt      Time                `json:"judgedAt"` // when the certificates were validated
	Timestamps    []Timestamp         `json:"timestamps"`
	Reason        string              `json:"reason"`
	Location      string              `json:"location"`
	Problems      []string            `json:"problems"`
	Warnings      []string            `json:"warnings"`
	Passed        bool                `json:"passed"` // [ades.SignatureReport.Passed]
	Changes       []Change            `json:"changes"`
	Certificate   *Certificate        `json:"certificate"`
	Chain         []Certificate       `json:"chain"`
	Path          []CertificateStatus `json:"path"` // the chain with its revocation status
	Algorithm     Algorithm           `json:"algorithm"`
	SignerName    string              `json:"signerName"` // as the document states it
}

// Timestamp is the report on one timestamp, [ades.TimestampReport].
type Timestamp struct {
	Type      ades.TimestampType `json:"type"`
	Name      string             `json:"name"`
	Time      Time               `json:"time"`
	Authority string             `json:"authority"`
	Intact    bool               `json:"intact"`
	Trusted   bool               `json:"trusted"`
	// Indication states Intact and Trusted in the terms of EN 319 102-1 5.4: PASSED, FAILED or
	// INDETERMINATE.
	Indication string              `json:"indication"`
	JudgedAt   Time                `json:"judgedAt"`
	Path       []CertificateStatus `json:"path"`
	Problems   []string            `json:"problems"`
}

// Change is the report on one change that a later revision made, [ades.Change].
type Change struct {
	Revision  int             `json:"revision"`
	Kind      ades.ChangeKind `json:"kind"`
	Object    string          `json:"object"`
	Where     string          `json:"where"`
	Page      int             `json:"page"`
	Field     string          `json:"field"`
	Permitted bool            `json:"permitted"`
}

// Certificate identifies a certificate and states its validity period.
type Certificate struct {
	Subject   string `json:"subject"` // distinguished name in the form of RFC 4514
	Name      string `json:"name"`    // the subject's common name, else its organisation
	Issuer    string `json:"issuer"`  // distinguished name
	Number    string `json:"number"`  // the certificate's serial number, in hexadecimal
	NotBefore Time   `json:"notBefore"`
	NotAfter  Time   `json:"notAfter"`
	SHA256    string `json:"sha256"` // of the certificate, in hexadecimal
}

// Algorithm is the signature algorithm and the key of a signature. A field is "" if its value is
// not known.
type Algorithm struct {
	Scheme string `json:"scheme"` // such as "ECDSA"
	Hash   string `json:"hash"`   // such as "SHA-256"
	Key    string `json:"key"`    // such as "P-256", or "3072" for the bits of an RSA key
}

// CertificateStatus is a certificate of a path and its revocation status, [ades.CertificateStatus].
type CertificateStatus struct {
	Certificate Certificate           `json:"certificate"`
	Revocation  ades.RevocationStatus `json:"revocation"`
	RevokedAt   Time                  `json:"revokedAt"`
	Reason      int                   `json:"reason"` // CRLReason (RFC 5280 5.3.1)
	Source      ades.RevocationSource `json:"source"`
	ProducedAt  Time                  `json:"producedAt"`
	ThisUpdate  Time                  `json:"thisUpdate"`
	Fetched     bool                  `json:"fetched"`
}

// Time is a time whose JSON is a string: RFC 3339 in UTC, to the second, and "" for an unknown
// time.
type Time struct{ time.Time }

// Unreadable returns the report on a file that could not be validated because of err.
func Unreadable(file string, err error) Document {
	return Document{File: file, Problems: []string{}, Signatures: []Signature{}, Error: err.Error()}
}

// New returns the report on a file with the given name.
func New(file string, r *ades.Report) Document {
	d := Document{File: file, Passed: r.Passed(), Problems: append([]string{}, r.Problems()...), Signatures: make([]Signature, 0, len(r.Signatures))}
	for i := range r.Signatures {
		d.Signatures = append(d.Signatures, signatureOf(&r.Signatures[i]))
	}
	return d
}

func signatureOf(s *ades.SignatureReport) Signature {
	out := Signature{
		Name: s.Name, Format: s.Format, Indication: s.Indication, SubIndication: s.SubIndication, Passed: s.Passed(),
		Intact: s.Intact, Coverage: s.Coverage, Counter: s.CounterSignature, Extended: s.Extended, CoveredBytes: s.CoveredBytes,
		Chain: []Certificate{}, Path: pathOf(s.Path), Algorithm: algorithmOf(s),
		ClaimedTime: Time{s.ClaimedTime}, BestTime: Time{s.BestTime}, JudgedAt: Time{s.JudgedAt},
		Timestamps: []Timestamp{}, Changes: []Change{},
		SignerName: s.SignerName, Reason: s.Reason, Location: s.Location,
		Problems: append([]string{}, s.Problems...), Warnings: append([]string{}, s.Warnings...),
	}
	if c := s.Certificate; c != nil {
		own := certificateOf(c)
		out.Certificate = &own
		out.Signer, out.SerialNumber, out.Issuer = c.Subject.CommonName, c.Subject.SerialNumber, c.Issuer.CommonName
	}
	for _, c := range s.Chain {
		out.Chain = append(out.Chain, certificateOf(c))
	}
	for i := range s.Timestamps {
		out.Timestamps = append(out.Timestamps, timestampOf(&s.Timestamps[i]))
	}
	for _, c := range s.Changes {
		out.Changes = append(out.Changes, Change(c))
	}
	return out
}

func timestampOf(t *ades.TimestampReport) Timestamp {
	out := Timestamp{
		Type: t.Type, Name: t.Name, Time: Time{t.Time}, Intact: t.Intact, Trusted: t.Trusted,
		Indication: indicationOf(t), JudgedAt: Time{t.JudgedAt}, Path: pathOf(t.Path),
		Problems: append([]string{}, t.Problems...),
	}
	if t.Authority != nil {
		out.Authority = t.Authority.Subject.CommonName
	}
	return out
}

// indicationOf returns the indication of the timestamp validation building block (EN 319 102-1
// 5.4).
func indicationOf(t *ades.TimestampReport) string {
	switch {
	case !t.Intact:
		return "FAILED"
	case t.Trusted:
		return "PASSED"
	}
	return "INDETERMINATE"
}

func certificateOf(c *x509.Certificate) Certificate {
	organisation := ""
	if len(c.Subject.Organization) > 0 {
		organisation = c.Subject.Organization[0]
	}
	number := ""
	if c.SerialNumber != nil {
		number = c.SerialNumber.Text(16)
	}
	sum := sha256.Sum256(c.Raw)
	return Certificate{
		Subject: c.Subject.String(), Name: cmp.Or(c.Subject.CommonName, organisation), Issuer: c.Issuer.String(), Number: number,
		NotBefore: Time{c.NotBefore}, NotAfter: Time{c.NotAfter}, SHA256: hex.EncodeToString(sum[:]),
	}
}

func algorithmOf(s *ades.SignatureReport) (a Algorithm) {
	if s.Algorithm.Scheme != 0 {
		a.Scheme = s.Algorithm.Scheme.String()
	}
	if s.Algorithm.Hash != 0 {
		a.Hash = s.Algorithm.Hash.String()
	}
	if s.Certificate != nil {
		a.Key = keyOf(s.Certificate.PublicKey)
	}
	return a
}

func keyOf(public any) string {
	switch key := public.(type) {
	case *rsa.PublicKey:
		return fmt.Sprint(key.N.BitLen())
	case *ecdsa.PublicKey:
		return key.Params().Name
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return ""
}

// String returns the algorithm on one line, such as "ECDSA with SHA-256, P-256".
func (a Algorithm) String() string {
	out := a.Scheme
	if a.Scheme != "" && a.Hash != "" {
		out += " with " + a.Hash
	}
	if out != "" && a.Key != "" && a.Key != a.Scheme {
		out += ", " + a.Key
	}
	return out
}

func pathOf(path []ades.CertificateStatus) []CertificateStatus {
	out := []CertificateStatus{}
	for _, s := range path {
		out = append(out, CertificateStatus{
			Certificate: certificateOf(s.Certificate), Revocation: s.Revocation, RevokedAt: Time{s.RevokedAt}, Reason: s.Reason,
			Source: s.Source, ProducedAt: Time{s.ProducedAt}, ThisUpdate: Time{s.ThisUpdate}, Fetched: s.Fetched,
		})
	}
	return out
}

//go:embed verify.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of a [Document].
func Schema() []byte { return slices.Clone(schema) }

// String returns the time as in JSON.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// MarshalJSON implements [json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Time) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	t.Time = time.Time{}
	if text == "" {
		return nil
	}
	var err error
	if t.Time, err = time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf("report: time %q: %w", text, err)
	}
	return nil
}
