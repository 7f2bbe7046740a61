package online

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

// TSA is a timestamp authority (RFC 3161) reached over HTTP (3.4 there). It may be
// used by several goroutines.
type TSA struct {
	URL    string
	Policy asn1.ObjectIdentifier // to ask for and to insist upon; nil: the authority's choice

	// Username and Password are sent with basic authentication when not both empty.
	Username, Password string

	// Client is what calls; nil: [net/http.DefaultClient]. One whose transport has a
	// client certificate authenticates by it.
	Client *http.Client

	// Roots, when not nil, are what the authority's certificate has to lead to at the
	// token's time. A token under another root is then refused here, so that [InOrder]
	// can ask the next authority, and not only by who validates it. Intermediates are known
	// on the way there beside those that the token carries, which may be none.
	Roots         *x509.CertPool
	Intermediates []*x509.Certificate

	Timeout time.Duration // of one request; zero: 10 seconds
}

// Timestamp implements [ades.Timestamper]. Every field of the token that answers to
// the request is compared with it, the nonce included, and its time with the clock.
func (t *TSA) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	token, err := t.timestamp(ctx, h, sum)
	if err != nil {
		return nil, fmt.Errorf("%w from %s: %w", ades.ErrTimestamp, redacted(t.URL), err)
	}
	return token, nil
}

func (t *TSA) timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	request := t.request(h, sum)
	answer, err := t.exchange(ctx, request)
	if err != nil {
		return nil, err
	}
	der, err := tsp.ParseResponse(answer)
	if err != nil {
		return nil, refusedTimestamp(err)
	}
	token, err := request.Check(der)
	if err != nil {
		return nil, err
	}
	if err := t.checkToken(token, time.Now()); err != nil {
		return nil, err
	}
	return der, nil
}

func (t *TSA) request(h crypto.Hash, sum []byte) tsp.Request {
	nonce := make([]byte, 8) // RFC 3161 2.4.1 has 64 bits
	rand.Read(nonce)
	return tsp.Request{
		Hash:         h,
		Sum:          sum,
		Policy:       t.Policy,
		Nonce:        new(big.Int).SetBytes(nonce),
		Certificates: true,
	}
}

func (t *TSA) exchange(ctx context.Context, request tsp.Request) ([]byte, error) {
	body, err := request.Marshal()
	if err != nil {
		return nil, err
	}
	client, timeout := t.Client, t.Timeout
	if client == nil {
		client = http.DefaultClient
	}
	if timeout <= 0 {
		timeout = smallTimeout
	}
	return exchange{
		url:      t.URL,
		body:     body,
		sends:    "application/timestamp-query",
		accepts:  "application/timestamp-reply",
		username: t.Username,
		password: t.Password,
		limit:    smallAnswer,
		timeout:  timeout,
	}.do(ctx, client)
}

// checkToken checks what neither the request fixes nor the token proves: that its time
// is about now, which RFC 3161 2.4.2 leaves to the requester, and that its certificate
// leads to a root. A clock that is further off would date signatures back or ahead.
func (t *TSA) checkToken(token *tsp.Token, now time.Time) error {
	if skew := token.Time.Sub(now); skew.Abs() > ades.MaxSkew {
		return fmt.Errorf("token's time %s is %s off", token.Time.UTC().Format(time.RFC3339), skew.Abs().Round(time.Second))
	}
	if t.Roots == nil {
		return nil
	}
	_, err := ades.Chain(token.Certificate, slices.Concat(token.Certificates, t.Intermediates), t.Roots, token.Time)
	return err
}

// refusedTimestamp adds [ades.ErrUnavailable] to refusals that are about the moment
// and not about the request (PKIFailureInfo, RFC 3161 2.4.2).
func refusedTimestamp(err error) error {
	var refused *tsp.StatusError
	if errors.As(err, &refused) && refused.Temporary() {
		return fmt.Errorf("%w: %w", ades.ErrUnavailable, err)
	}
	return err
}

// InOrder asks one timestamp authority after the other until one gives a token.
type InOrder []ades.Timestamper

// Timestamp implements [ades.Timestamper]. The error carries that of each authority;
// it is [ades.ErrUnavailable] when one of them is.
func (o InOrder) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	var failures []error
	for _, authority := range o {
		token, err := authority.Timestamp(ctx, h, sum)
		if err == nil {
			return token, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break // whoever asked went away
		}
	}
	if len(failures) == 0 {
		return nil, fmt.Errorf("%w: no authority is configured", ades.ErrTimestamp)
	}
	return nil, errors.Join(failures...)
}
