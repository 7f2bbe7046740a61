package xades

import (
	"context"
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// Pending is a signature that is complete except for its value. It does not refer to the document
// and can be stored.
type Pending struct {
	signer       ades.SignerIdentity
	documentSize int64
	documentSum  []byte // digest of the document
	frame        frame
	markup       signatureMarkup
	signedInfo   []byte // SignedInfo of markup in canonical form
	level        ades.Level
}

// Digest returns the digest to sign. Its Algorithm names the hash and the scheme with which the key
// has to sign it.
func (p *Pending) Digest() ades.Digest { return p.signer.Algorithm.Digest(p.signedInfo) }

// Signer returns the signer that the signature was prepared for.
func (p *Pending) Signer() ades.SignerIdentity { return p.signer }

// Base returns the length and the digest of the document that the signature was prepared for. The
// hash is the hash of Digest. [Pending.Complete] does not read the document: a caller for whom it
// may have changed since Prepare compares both before it applies the revision.
func (p *Pending) Base() (size int64, sum []byte) { return p.documentSize, p.documentSum }

// Level returns the level that the signature was prepared for.
func (p *Pending) Level() ades.Level { return p.level }

// Complete verifies the signature value with the signer's certificate and returns the revision that
// makes the signed document. It returns [ades.ErrValue] if the value does not verify. An ECDSA
// value is in DER.
//
// A signature that was prepared for level T or above gets its timestamp from t, which may be nil
// for level B only; [Extender.ExtendLast] adds the rest. Complete returns [ades.ErrTimestamp] if
// there is no timestamp, and [ades.ErrOutsideValidity] if the time of the timestamp is after the
// end of the validity of the signer's certificate. The value stays valid, and the caller may call
// Complete again.
func (p *Pending) Complete(ctx context.Context, value []byte, t ades.Timestamper) (Revision, error) {
	if err := ctx.Err(); err != nil {
		return Revision{}, err
	}
	a, public := p.signer.Algorithm, p.signer.Certificate.PublicKey
	if err := a.Verify(public, p.Digest().Sum, value); err != nil {
		return Revision{}, err
	}
	octets, err := xmldsig.EncodeValue(a, public, value)
	if err != nil {
		return Revision{}, err
	}
	encoded := base64.StdEncoding.EncodeToString(octets)
	unsigned, err := p.timestamped(ctx, encoded, t)
	if err != nil {
		return Revision{}, err
	}
	return p.frame.revision(p.documentSize, p.markup.head, encoded, p.markup.body, unsigned, p.markup.foot), nil
}

// Sign signs the digest with a local key, and completes the signature as [Pending.Complete] does.
func (p *Pending) Sign(ctx context.Context, key crypto.Signer, t ades.Timestamper) (Revision, error) {
	digest := p.Digest()
	value, err := key.Sign(rand.Reader, digest.Sum, digest.Algorithm.SignerOpts())
	if err != nil {
		return Revision{}, fmt.Errorf("xades: signing: %w", err)
	}
	return p.Complete(ctx, value, t)
}

// timestamped returns the markup of the unsigned properties: from level T on, a signature timestamp
// (EN 319 132-1 5.3); at level B, "".
func (p *Pending) timestamped(ctx context.Context, value string, t ades.Timestamper) (string, error) {
	if p.level == ades.B {
		return "", nil
	}
	token, err := p.timestamp(ctx, value, t)
	if err != nil {
		return "", err
	}
	return element("xades:UnsignedProperties", nil,
		element("xades:UnsignedSignatureProperties", nil,
			timestampProperty("xades:SignatureTimeStamp", attributes{"Id", p.frame.ids.timestamp()}, token.Raw))), nil
}

func (p *Pending) timestamp(ctx context.Context, value string, t ades.Timestamper) (*tsp.Token, error) {
	if t == nil {
		return nil, fmt.Errorf("xades: %w: level %v without a timestamp authority", ades.ErrTimestamp, p.level)
	}
	signatureValue, err := canonicalPart(p.markup.whole(value, ""), xmldsig.Namespace, "SignatureValue")
	if err != nil {
		return nil, err
	}
	h := p.signer.Algorithm.Hash
	token, err := tsp.Obtain(ctx, t, h, sumOf(h, signatureValue))
	if err != nil {
		return nil, err
	}
	if c := p.signer.Certificate; token.Time.After(c.NotAfter) {
		return nil, fmt.Errorf("xades: %w: the signer's certificate expired at %v, before the timestamp of %v", ades.ErrOutsideValidity, c.NotAfter, token.Time)
	}
	return token, nil
}

// encodedPending is the JSON encoding of a Pending. Later versions of this package have to read it.
type encodedPending struct {
	Version int `json:"version"`
	signerjson.Signer
	Base     int64   `json:"base"`
	BaseSum  []byte  `json:"baseSum"`
	ID       string  `json:"id"`
	Encoding int     `json:"encoding,omitempty"`
	Before   []Piece `json:"before"`
	Head     string  `json:"head"`
	Body     string  `json:"body"`
	Foot     string  `json:"foot"`
	After    []Piece `json:"after"`
	Level    int     `json:"level,omitempty"`
}

const pendingVersion = 1

// MarshalBinary encodes the pending signature.
func (p *Pending) MarshalBinary() ([]byte, error) {
	return json.Marshal(encodedPending{
		Version: pendingVersion, Signer: signerjson.Encode(p.signer), Base: p.documentSize, BaseSum: p.documentSum,
		ID: string(p.frame.ids), Encoding: int(p.frame.encoding), Before: p.frame.before, After: p.frame.after,
		Head: p.markup.head, Body: p.markup.body, Foot: p.markup.foot, Level: int(p.level),
	})
}

// UnmarshalBinary decodes a pending signature that MarshalBinary of this or an earlier version
// encoded.
func (p *Pending) UnmarshalBinary(b []byte) error {
	decoded, err := decodePending(b)
	if err != nil {
		return fmt.Errorf("xades: decoding a pending signature: %w", err)
	}
	*p = decoded
	return nil
}

func decodePending(b []byte) (p Pending, err error) {
	var e encodedPending
	if err := json.Unmarshal(b, &e); err != nil {
		return p, err
	}
	if e.Version != pendingVersion {
		return p, fmt.Errorf("unknown version %d", e.Version)
	}
	p = Pending{documentSize: e.Base, documentSum: e.BaseSum, level: ades.Level(e.Level), markup: signatureMarkup{e.Head, e.Body, e.Foot}}
	if err := checkLevel(p.level); err != nil {
		return p, err
	}
	if p.signer, err = e.Decode(); err != nil {
		return p, err
	}
	if p.frame, err = e.frame(); err != nil {
		return p, err
	}
	p.signedInfo, err = p.markup.signedInfo()
	return p, err
}

func (e encodedPending) frame() (frame, error) {
	f := frame{ids: ids(e.ID), encoding: xmldoc.Encoding(e.Encoding), before: e.Before, after: e.After}
	if f.encoding < xmldoc.SingleBytes || f.encoding > xmldoc.BigEndian {
		return f, fmt.Errorf("unknown encoding %d", e.Encoding)
	}
	for _, pieces := range [][]Piece{f.before, f.after} {
		for _, p := range pieces {
			if p.From < 0 || p.To < p.From || p.To > e.Base {
				return f, errors.New("a piece is outside of the document")
			}
		}
	}
	return f, nil
}
