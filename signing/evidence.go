package signing

import (
	"context"
	"crypto"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/storage"
)

// The kinds of entries in the evidence log about a request (spec 7.3). Each entry is recorded in the
// transaction of the change that it is about. A request has one entry of a kind, except for
// signature.prepared, since a person whose certificate has changed is asked again, and signature.recovered.
const (
	askedEntryKind     = "signature.asked"     // the provider will be asked to ask the person
	preparedEntryKind  = "signature.prepared"  // the digest was made, and will be given to the provider
	madeEntryKind      = "signature.made"      // the person has signed
	completedEntryKind = "signature.completed" // the signed document is stored
	failedEntryKind    = "signature.failed"    // there will be no signature
	deliveredEntryKind = "signature.delivered" // the client has the document; no facts
	recoveredEntryKind = "signature.recovered" // an operator completed it after signature.failed or signature.abandoned, and is given the document
	abandonedEntryKind = "signature.abandoned" // the client did not poll for the result, or the order was cancelled
)

// askedEntry has the facts of signature.asked: who is asked, by whom, and what the phone shows.
type askedEntry struct {
	Client    string     `json:"client,omitempty"` // ID of the API client
	Method    idp.Method `json:"method"`
	Kennitala string     `json:"kennitala"` // that the client named
	Phone     string     `json:"phone,omitempty"`
	Document  string     `json:"document"` // its name
	Reason    string     `json:"reason"`
	Place     string     `json:"place,omitempty"`
	Level     string     `json:"level"`             // B, T, LT or LTA
	Packing   string     `json:"packing,omitempty"` // of XML alone
	content              // as it was uploaded
	// Warnings are those about a PDF. They are absent in the entry of an order, whose process has them, and in those of
	// earlier versions, and empty if there was nothing to warn of.
	Warnings *[]inspect.Warning `json:"warnings,omitempty"`
}

// content identifies a document.
type content struct {
	SHA256 string `json:"sha256,omitempty"` // hex
	Size   int64  `json:"size"`             // bytes
}

// preparedEntry has the facts of signature.prepared: what the person is asked to sign, and with which
// certificate.
type preparedEntry struct {
	Provider    string `json:"provider"`
	Certificate []byte `json:"certificate,omitempty"` // DER, in Base64; absent if it comes in a CMS with the value
	Algorithm   string `json:"algorithm,omitempty"`   // of the signature, likewise
	Hash        string `json:"hash"`                  // of the digest, such as SHA-256
	Digest      string `json:"digest"`                // hex
}

// madeEntry has the facts of signature.made.
type madeEntry struct {
	Value    []byte    `json:"value"`          // in Base64
	Code     string    `json:"code,omitempty"` // the verification code that the phone showed
	AskedAt  time.Time `json:"askedAt"`        // when the client's call came
	SignedAt time.Time `json:"signedAt"`       // when the value was stored
}

// completedEntry has the facts of signature.completed.
type completedEntry struct {
	Level   string `json:"level"`
	content        // of the signed document; without SHA256 if that would need reading all of it
}

// failedEntry has the facts of signature.failed.
type failedEntry struct {
	Provider string        `json:"provider,omitempty"` // if it answered
	Code     idp.ErrorCode `json:"code"`               // of spec 3.7; empty for an error that the service does not know
	Reason   string        `json:"reason,omitempty"`   // why the signature that the person gave could not be completed
	cause    error         // of that, for the log alone
}

// recoveredEntry has the facts of signature.recovered.
type recoveredEntry struct {
	Level   string `json:"level"`
	content        // of the signed document
}

// abandonedEntry has the facts of signature.abandoned.
type abandonedEntry struct {
	Phase Phase `json:"phase"`
}

// record adds an entry about the request.
func (s *Service) record(ctx context.Context, r *Request, kind string, facts any) error {
	encoded, err := json.Marshal(facts)
	if err != nil {
		return fmt.Errorf("signing: encoding evidence: %w", err)
	}
	step := Step{Request: r.ID, Name: kind}
	switch f := facts.(type) {
	case failedEntry:
		step.Code, step.Reason, step.Err = f.Code, f.Reason, f.cause
	case completedEntry:
		step.Level = f.Level
	}
	s.reportLater(ctx, step)
	return s.log.Record(ctx, storage.Entry{Subject: r.ID, Account: r.Account, Kind: kind, At: s.now(ctx), Facts: encoded})
}

func (s *Service) recordAsked(ctx context.Context, r *Request, b *startInput) error {
	facts := askedEntry{
		Client: b.Client,
		Method: r.Person.Method, Kennitala: r.Person.Kennitala, Phone: r.Person.Phone,
		Document: r.Text.Document, Reason: r.Text.Reason, Place: r.Place, Level: r.Level.String(),
		content: b.original,
	}
	switch {
	case r.Format == XML:
		facts.Packing = r.Packing.String()
	case b.Order == nil:
		warnings := append([]inspect.Warning{}, b.warnings...)
		facts.Warnings = &warnings
	}
	return s.record(ctx, r, askedEntryKind, facts)
}

func (sess *session) recordPrepared(ctx context.Context, r *Request, p preparation) error {
	d := p.Digest()
	facts := preparedEntry{Provider: r.State.Provider, Hash: d.Algorithm.Hash.String(), Digest: hex.EncodeToString(d.Sum)}
	if cert := p.Signer().Certificate; cert != nil {
		facts.Certificate, facts.Algorithm = cert.Raw, d.Algorithm.Scheme.String()
	}
	return sess.record(ctx, r, preparedEntryKind, facts)
}

func (sess *session) recordMade(ctx context.Context, r *Request) error {
	return sess.record(ctx, r, madeEntryKind, madeEntry{Value: r.Value, Code: r.Code, AskedAt: r.CreatedAt, SignedAt: r.SignedAt})
}

// recordAbandoned records that a request is abandoned, unless it is decided.
func (s *Service) recordAbandoned(ctx context.Context, r *Request) error {
	if r.decided() {
		return nil
	}
	return s.record(ctx, r, abandonedEntryKind, abandonedEntry{r.Phase})
}

// identify identifies a stored document.
func (s *Service) identify(ctx context.Context, id string) (content, error) {
	blob, err := s.documents.Open(ctx, id)
	if err != nil {
		return content{}, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	if c := knownContent(document(blob)); c.SHA256 != "" {
		return c, nil
	}
	h := storedHash.New()
	if _, err := io.Copy(h, io.NewSectionReader(blob, 0, blob.Size())); err != nil {
		return content{}, fmt.Errorf("signing: reading the document: %w", err)
	}
	return contentOf(h.Sum(nil), blob.Size()), nil
}

// contentOf identifies a document by its SHA-256 and its length.
func contentOf(sum []byte, size int64) content { return content{hex.EncodeToString(sum), size} }

// knownContent identifies a document without reading it: its SHA-256 may be missing.
func knownContent(d pades.Document) content {
	c := content{Size: d.Size}
	for _, m := range d.Hashed {
		if m.Hash != crypto.SHA256 || m.Offset != d.Size {
			continue
		}
		h := m.Hash.New()
		if u, ok := h.(encoding.BinaryUnmarshaler); ok && u.UnmarshalBinary(m.State) == nil {
			c.SHA256 = hex.EncodeToString(h.Sum(nil))
		}
	}
	return c
}

// Step is a step in the life of a request, for the server's log. It has no personal data, no name of a
// document, and no secret.
type Step struct {
	Request string // ID
	// Name is the kind of the entry in the evidence log (evidence.go); or "provider.asked",
	// "provider.failed", "signature.postponed", or "end.failed" if a document was delivered and the end of its request
	// could not be stored.
	Name string
	Code idp.ErrorCode // with signature.failed
	// Level is that of the signature, such as "LT", with signature.completed.
	Level string
	Note  string // with provider.asked: the call and its outcome
	// Reason says which sources kept a signature from being completed, with signature.failed.
	Reason string
	Err    error // with provider.failed, signature.postponed and end.failed, and with signature.failed if it has a Reason
}

func (s *Service) report(ctx context.Context, step Step) {
	if s.options.OnStep != nil {
		s.options.OnStep(ctx, step)
	}
}

// inTx runs fn in a transaction. Its steps are reported when the outermost transaction is committed.
func (s *Service) inTx(ctx context.Context, fn func(ctx context.Context) error) error {
	return storage.InTx(ctx, s.tx, fn)
}

// reportLater reports a step when the transaction of ctx is committed.
func (s *Service) reportLater(ctx context.Context, step Step) {
	storage.AfterCommit(ctx, func(ctx context.Context) { s.report(ctx, step) })
}
