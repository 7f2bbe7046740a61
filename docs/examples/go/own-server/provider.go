package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// seals signs at once for the person that is named, with a key that this program has, and certifies it too. It asks no
// person: a provider that does has to pass package idptest.
type seals struct {
	authority *sandboxca.Authority
	key       crypto.Signer
}

func newSeals() (seals, error) {
	authority, err := sandboxca.New(time.Now())
	key, keyErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return seals{authority, key}, errors.Join(err, keyErr)
}

func (seals) Traits(idp.Method) idp.Traits { return idp.Traits{} }

func (s seals) Begin(ctx context.Context, key string, p idp.Person, _ idp.Text, _ *x509.Certificate) (idp.State, idp.Event, error) {
	return s.Poll(ctx, idp.State{Provider: "seals", Version: 1, Key: key, Public: []byte(p.Kennitala), Expires: time.Now().Add(time.Minute)})
}

func (s seals) Poll(_ context.Context, state idp.State) (idp.State, idp.Event, error) {
	kennitala := string(state.Public)
	certificate, err := s.authority.Issue("Seal of "+kennitala, kennitala, s.key.Public(), time.Now())
	return state, idp.NeedDigest{Certificate: certificate, Chain: s.authority.Chain()}, err
}

func (s seals) Sign(_ context.Context, state idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	var signed idp.Signed
	for _, d := range digests {
		value, err := s.key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
		if err != nil {
			return state, nil, err
		}
		signed.Values = append(signed.Values, value)
	}
	return state, signed, nil
}
