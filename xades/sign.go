package xades

import (
	"context"
	"crypto"
	"crypto/rand"
	"fmt"

	"github.com/innsigli/innsigli/ades"
)

// Sign signs a document with a key that is at hand, at the level of the options: [Prepare], [Pending.Sign] with the
// timestamp authority of the sources, and [Extender.ExtendLast]. The zero Sources are enough for level B.
//
// Where the signature and its timestamp were made and the validation data for levels LT and LTA could not be had, Sign
// returns that revision beside the error: an [Extender] can continue from there.
func Sign(ctx context.Context, doc Document, key crypto.Signer, signer ades.Signer, options Options, sources ades.Sources) (Revision, error) {
	p, err := Prepare(ctx, doc, signer, options)
	if err != nil {
		return Revision{}, err
	}
	r, err := p.Sign(ctx, key, sources.Time)
	if err != nil || options.Level == ades.B {
		return r, err
	}
	further, err := Extender{Sources: sources}.ExtendLast(ctx, doc.With(r), options.Level)
	if err != nil {
		return r, err
	}
	for _, next := range further {
		if r, err = r.join(next); err != nil {
			return r, err
		}
	}
	return r, nil
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
