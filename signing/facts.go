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

// The kinds of entries in the evidence log about a request, and their facts (decisions.md
// 8.2). Each is recorded in the transaction of what it tells of. There is one of a kind, but
// for signature.prepared: a person who turns out to have another certificate is asked again.
const (
	askedEntry     = "signature.asked"     // the provider was asked to ask the person
	preparedEntry  = "signature.prepared"  // the digest was made, and is about to be handed over
	madeEntry      = "signature.made"      // the person approved
	completedEntry = "signature.completed" // the signed document is stored
	failedEntry    = "signature.failed"    // there will be no signature
	deliveredEntry = "signature.delivered" // the client has the document; no facts
)

// askedFacts are who was asked, by whom, and what the phone shows.
type askedFacts struct {
	Client    string     `json:"client,omitempty"` // ID of the API client
	Provider  string     `json:"provider,omitempty"`
	Method    idp.Method `json:"method"`
	Kennitala string     `json:"kennitala"` // that the client named
	Phone     string     `json:"phone,omitempty"`
	Document  string     `json:"document"` // its name
	Reason    string     `json:"reason"`
	Place     string     `json:"place,omitempty"`
	Level     string     `json:"level"` // B, T, LT or LTA
	content              // as it was uploaded
}

// content identifies a document.
type content struct {
	SHA256 string `json:"sha256,omitempty"` // hex
	Size   int64  `json:"size"`             // bytes
}

// preparedFacts are what the person is asked to sign, and as whom.
type preparedFacts struct {
	Certificate []byte `json:"certificate"` // DER, in Base64
	Algorithm   string `json:"algorithm"`   // of the signature
	Hash        string `json:"hash"`        // of the digest, such as SHA-256
	Digest      string `json:"digest"`      // hex
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
	Code idp.ErrorCode `json:"code"` // of service.md 7.2; empty for an error that the service does not know
}

// record adds an entry about the request.
func (s *Service) record(ctx context.Context, r *Request, kind string, facts any) error {
	encoded, err := json.Marshal(facts)
	if err != nil {
		return fmt.Errorf("signing: encoding evidence: %w", err)
	}
	return s.log.Record(ctx, storage.Entry{Subject: r.ID, Account: r.Account, Kind: kind, At: time.Now().UTC(), Facts: encoded})
}

func (t *turn) recordAsked(ctx context.Context, r *Request) error {
	return t.record(ctx, r, askedEntry, askedFacts{
		Client: t.client, Provider: r.State.Provider,
		Method: r.Person.Method, Kennitala: r.Person.Kennitala, Phone: r.Person.Phone,
		Document: r.Text.Document, Reason: r.Text.Reason, Place: r.Place, Level: r.Level.String(),
		content: t.original,
	})
}

func (t *turn) recordPrepared(ctx context.Context, r *Request, p *pades.Pending) error {
	d := p.Digest()
	return t.record(ctx, r, preparedEntry, preparedFacts{
		Certificate: p.Signer().Certificate.Raw,
		Algorithm:   d.Algorithm.Scheme.String(),
		Hash:        d.Algorithm.Hash.String(),
		Digest:      hex.EncodeToString(d.Sum),
	})
}

func (t *turn) recordMade(ctx context.Context, r *Request) error {
	return t.record(ctx, r, madeEntry, madeFacts{Value: r.Value, Code: r.Code, AskedAt: r.CreatedAt, SignedAt: r.SignedAt})
}

// uploaded identifies the document as the client sent it.
func (t *turn) uploaded(ctx context.Context) (content, error) {
	blob, err := t.documents.Open(ctx, t.r.Document)
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
	return content{hex.EncodeToString(h.Sum(nil)), blob.Size()}, nil
}

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
