// Package report writes the result of a validation down: as JSON for programs and as a text for people who
// decide by it, in Icelandic and English.
//
//	result, err := pades.Verify(ctx, document, ades.VerifyOptions{Roots: roots})
//	if err != nil {
//		return err
//	}
//	d := report.Of("contract.pdf", result)
//	return d.Text(os.Stdout, report.Icelandic)
//
// [Document] is the JSON that "innsigli verify --json" prints, and [Schema] describes it. Members may be
// added to it, none is taken away or renamed. Every member is always there: a text that is not known is "",
// a list of nothing is [], and only a certificate may be null.
//
// The text says first whether the document can be relied upon, then who signed, when, what that covers and what
// happened afterwards. The terms of ETSI EN 319 102-1 follow in brackets, and the sentences in which the
// validation says what it found come last, in English. Whatever the document itself says, such as names, is
// shown without what could pass for another part of the text: control characters, directions of writing, line
// ends, and more than a few lines of it.
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
	Error      string      `json:"error"`    // why there is no report
	Problems   []string    `json:"problems"` // why it has not passed, [ades.Report.Problems]
}

// Signature is the report on one signature, [ades.SignatureReport].
type Signature struct {
	Name          string              `json:"name"`
	Format        string              `json:"format"`
	Indication    ades.Indication     `json:"indication"`
	SubIndication ades.SubIndication  `json:"subIndication"`
	Intact        bool                `json:"intact"`
	Coverage      ades.Coverage       `json:"coverage"`
	Counter       bool                `json:"counterSignature"` // over the signature before it, and nothing of the file
	Extended      bool                `json:"extended"`         // only validation data follows
	CoveredBytes  int64               `json:"coveredBytes"`
	Signer        string              `json:"signer"`       // common name of the certificate
	SerialNumber  string              `json:"serialNumber"` // of the person, as the certificate has it
	Issuer        string              `json:"issuer"`       // common name
	ClaimedTime   Time                `json:"claimedTime"`
	BestTime      Time                `json:"bestTime"` // at which a timestamp proves the signature
	JudgedAt      Time                `json:"judgedAt"` // by which the certificates were judged
	Timestamps    []Timestamp         `json:"timestamps"`
	Reason        string              `json:"reason"`
	Location      string              `json:"location"`
	Problems      []string            `json:"problems"`
	Warnings      []string            `json:"warnings"`
	Passed        bool                `json:"passed"` // [ades.SignatureReport.Passed]
	Changes       []Change            `json:"changes"`
	Certificate   *Certificate        `json:"certificate"`
	Chain         []Certificate       `json:"chain"`
	Path          []CertificateStatus `json:"path"` // the chain with what was found about revocation
	Algorithm     Algorithm           `json:"algorithm"`
	SignerName    string              `json:"signerName"` // as the document says
}

// Timestamp is the report on one timestamp, [ades.TimestampReport].
type Timestamp struct {
	Type      ades.TimestampType `json:"type"`
	Name      string             `json:"name"`
	Time      Time               `json:"time"`
	Authority string             `json:"authority"`
	Intact    bool               `json:"intact"`
	Trusted   bool               `json:"trusted"`
	// Indication is what that comes to in the words of EN 319 102-1 5.4, PASSED, FAILED or INDETERMINATE.
	Indication string              `json:"indication"`
	JudgedAt   Time                `json:"judgedAt"`
	Path       []CertificateStatus `json:"path"`
	Problems   []string            `json:"problems"`
}

// Change is what a later revision did, [ades.Change].
type Change struct {
	Revision  int             `json:"revision"`
	Kind      ades.ChangeKind `json:"kind"`
	Object    string          `json:"object"`
	Where     string          `json:"where"`
	Page      int             `json:"page"`
	Field     string          `json:"field"`
	Permitted bool            `json:"permitted"`
}

// Unread is the report on a file that there is no report on.
func Unread(file string, err error) Document {
	return Document{File: file, Problems: []string{}, Signatures: []Signature{}, Error: err.Error()}
}

// Of is the report on a file.
func Of(file string, r *ades.Report) Document {
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

// indicationOf is the status that the building block for timestamps comes to (EN 319 102-1 5.4).
func indicationOf(t *ades.TimestampReport) string {
	switch {
	case !t.Intact:
		return "FAILED"
	case t.Trusted:
		return "PASSED"
	}
	return "INDETERMINATE"
}

// Certificate is what names a certificate, and when it is in force.
type Certificate struct {
	Subject   string `json:"subject"` // distinguished name, as RFC 4514 has it
	Name      string `json:"name"`    // the subject's common name, else its organisation
	Issuer    string `json:"issuer"`  // distinguished name
	Number    string `json:"number"`  // the certificate's serial number, in hexadecimal
	NotBefore Time   `json:"notBefore"`
	NotAfter  Time   `json:"notAfter"`
	SHA256    string `json:"sha256"` // of the certificate, in hexadecimal
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

// Algorithm is what a signature was made with; each is "" where it is not known.
type Algorithm struct {
	Scheme string `json:"scheme"` // such as "ECDSA"
	Hash   string `json:"hash"`   // such as "SHA-256"
	Key    string `json:"key"`    // such as "P-256", or "3072" for the bits of an RSA key
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

// String is the algorithm in a line, such as "ECDSA with SHA-256, P-256".
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

// CertificateStatus is a certificate of a path and what was found about its revocation, [ades.CertificateStatus].
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

// Schema is the JSON Schema (draft 2020-12) of a [Document].
func Schema() []byte { return slices.Clone(schema) }

// Time is a time as JSON has it here: RFC 3339 in UTC, to the second, and "" when it is not known.
type Time struct{ time.Time }

// String is the time as it stands in JSON.
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
		return fmt.Errorf("report: %q is no time: %w", text, err)
	}
	return nil
}
