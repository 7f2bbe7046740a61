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
	"github.com/innsigli/innsigli/storage"
)

// The kinds of entries in the evidence log about a request, and their facts (spec
// 7.3). Each is recorded in the transaction of what it tells of. There is one of a kind, but
// for signature.prepared: a person who turns out to have another certificate is asked again.
const (
	askedEntry     = "signature.asked"     // the provider is about to be asked to ask the person
	preparedEntry  = "signature.prepared"  // the digest was made, and is about to be handed over
	madeEntry      = "signature.made"      // the person approved
	completedEntry = "signature.completed" // the signed document is stored
	failedEntry    = "signature.failed"    // there will be no signature
	deliveredEntry = "signature.delivered" // the client has the document; no facts
	abandonedEntry = "signature.abandoned" // nobody came for the result, and it was cleared away
)

// askedFacts are who was asked, by whom, and what the phone shows.
type askedFacts struct {
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
}

// content identifies a document.
type content struct {
	SHA256 string `json:"sha256,omitempty"` // hex
	Size   int64  `json:"size"`             // bytes
}

// preparedFacts are what the person is asked to sign, and as whom.
type preparedFacts struct {
	Provider    string `json:"provider"`              // that is asked
	Certificate []byte `json:"certificate,omitempty"` // DER, in Base64; without it, it comes in a CMS that is the value
	Algorithm   string `json:"algorithm,omitempty"`   // of the signature, likewise
	Hash        string `json:"hash"`                  // of the digest, such as SHA-256
	Digest      string `json:"digest"`                // hex
}

// madeFacts are the signature.
type madeFacts struct {
	Value    []byte    `json:"value"`          // in Base64
	Code     string    `json:"code,omitempty"` // the verification code that the phone showed
	AskedAt  time.Time `json:"askedAt"`        // when the client's call came
	SignedAt time.Time `json:"signedAt"`       // when the value was stored
}

// completedFacts are what is delivered.
type completedFacts struct {
	Level   string `json:"level"`
	content        // signed; without SHA256 where it could be had by reading all of it alone
}

// failedFacts are why there is no signature.
type failedFacts struct {
	Provider string        `json:"provider,omitempty"` // that was asked, if it answered
	Code     idp.ErrorCode `json:"code"`               // of spec 3.7; empty for an error that the service does not know
}

// abandonedFacts are how far the request had come.
type abandonedFacts struct {
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
	case failedFacts:
		step.Code = f.Code
	case completedFacts:
		step.Level = f.Level
	}
	s.reportLater(ctx, step)
	return s.log.Record(ctx, storage.Entry{Subject: r.ID, Account: r.Account, Kind: kind, At: now(), Facts: encoded})
}

func (s *Service) recordAsked(ctx context.Context, r *Request, client string, original content) error {
	facts := askedFacts{
		Client: client,
		Method: r.Person.Method, Kennitala: r.Person.Kennitala, Phone: r.Person.Phone,
		Document: r.Text.Document, Reason: r.Text.Reason, Place: r.Place, Level: r.Level.String(),
		content: original,
	}
	if r.Format == XML {
		facts.Packing = r.Packing.String()
	}
	return s.record(ctx, r, askedEntry, facts)
}

func (t *turn) recordPrepared(ctx context.Context, r *Request, p preparation) error {
	d := p.Digest()
	facts := preparedFacts{Provider: r.State.Provider, Hash: d.Algorithm.Hash.String(), Digest: hex.EncodeToString(d.Sum)}
	if cert := p.Signer().Certificate; cert != nil {
		facts.Certificate, facts.Algorithm = cert.Raw, d.Algorithm.Scheme.String()
	}
	return t.record(ctx, r, preparedEntry, facts)
}

func (t *turn) recordMade(ctx context.Context, r *Request) error {
	return t.record(ctx, r, madeEntry, madeFacts{Value: r.Value, Code: r.Code, AskedAt: r.CreatedAt, SignedAt: r.SignedAt})
}

// recordAbandoned tells that a request is cleared away, unless it is known what came of it.
func (s *Service) recordAbandoned(ctx context.Context, r *Request) error {
	if r.over() {
		return nil
	}
	return s.record(ctx, r, abandonedEntry, abandonedFacts{r.Phase})
}

// uploaded identifies a document as the client sent it.
func (s *Service) uploaded(ctx context.Context, id string) (content, error) {
	blob, err := s.documents.Open(ctx, id)
	if err != nil {
		return content{}, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	if c := known(document(blob)); c.SHA256 != "" {
		return c, nil
	}
	h := storedHash.New()
	if _, err := io.Copy(h, io.NewSectionReader(blob, 0, blob.Size())); err != nil {
		return content{}, fmt.Errorf("signing: reading the document: %w", err)
	}
	return identified(h.Sum(nil), blob.Size()), nil
}

// identified is a document by its SHA-256 and its length.
func identified(sum []byte, size int64) content { return content{hex.EncodeToString(sum), size} }

// known identifies a document by what is known of it without reading it.
func known(d pades.Document) content {
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
