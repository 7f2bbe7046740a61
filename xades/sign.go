package xades

import (
	"context"
	"crypto"
	"crypto/rand"
	"fmt"

	"github.com/innsigli/innsigli/ades"
)

// Sign signs a document with a key that is at hand: [Prepare] and [Pending.Sign] without a timestamp
// authority, so that [Options].Level has to be B.
func Sign(ctx context.Context, doc Document, key crypto.Signer, signer ades.Signer, options Options) (Revision, error) {
	p, err := Prepare(ctx, doc, signer, options)
	if err != nil {
		return Revision{}, err
	}
	return p.Sign(ctx, key, nil)
}

// Sign signs the digest with a key that is at hand, and completes the signature as [Pending.Complete]
// does.
func (p *Pending) Sign(ctx context.Context, key crypto.Signer, t ades.Timestamper) (Revision, error) {
	digest := p.Digest()
	value, err := key.Sign(rand.Reader, digest.Sum, digest.Algorithm.SignerOpts())
	if err != nil {
		return Revision{}, fmt.Errorf("xades: signing: %w", err)
	}
	return p.Complete(ctx, value, t)
}
