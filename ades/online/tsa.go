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

// TSA is a timestamp authority (RFC 3161) reached over HTTP (RFC 3161 3.4). Several goroutines may
// use it at once.
type TSA struct {
	URL    string
	Policy asn1.ObjectIdentifier // requested, and required in the token; nil: the authority's choice

	// Username and Password are sent with basic authentication unless both are empty.
	Username, Password string

	// Client sends the requests; nil: [net/http.DefaultClient]. A client whose transport has a
	// client certificate authenticates with it.
	Client *http.Client

	// Roots, when not nil, are the trusted roots for the authority's certificate at the token's
	// time. The TSA then refuses a token under another root, so [InOrder] can ask the next
	// authority before a verifier refuses the token. Intermediates are added to the certificates
	// that the token embeds, which may be none.
	Roots         *x509.CertPool
	Intermediates []*x509.Certificate

	Timeout time.Duration // of one request; zero: 10 seconds

	// Chains, if not nil, caches the chains that lead to Roots. The clients of several authorities
	// may share it, also with [ades.Sources].
	Chains *ades.Chains
}

// InOrder asks timestamp authorities in order until one returns a token.
type InOrder []ades.Timestamper

// Timestamp implements [ades.Timestamper]. It compares every field of the token that answers the
// request with the request, including the nonce, and the token's time with the clock.
func (t *TSA) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	token, err := t.timestamp(ctx, h, sum)
	if err != nil {
		return nil, fmt.Errorf("%w from %w", ades.ErrTimestamp, sourceError(ades.TimestampAuthority, t.URL, err))
	}
	return token, nil
}

// Timestamp implements [ades.Timestamper]. The error joins the errors of all authorities. It is
// [ades.ErrUnavailable] when one of them is.
func (o InOrder) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	var errs []error
	for _, authority := range o {
		token, err := authority.Timestamp(ctx, h, sum)
		if err == nil {
			return token, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break // the caller gave up
		}
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("%w: no authority is configured", ades.ErrTimestamp)
	}
	return nil, errors.Join(errs...)
}

func (t *TSA) timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	request := t.request(h, sum)
	answer, err := t.exchange(ctx, request)
	if err != nil {
		return nil, err
	}
	der, err := tsp.ParseResponse(answer)
	if err != nil {
		return nil, markTemporaryFailure(err)
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
	nonce := make([]byte, 8) // RFC 3161 2.4.1 suggests 64 bits
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
		timeout = shortTimeout
	}
	return exchange{
		url:         t.URL,
		body:        body,
		contentType: "application/timestamp-query",
		accept:      "application/timestamp-reply",
		username:    t.Username,
		password:    t.Password,
		limit:       smallLimit,
		timeout:     timeout,
	}.do(ctx, client)
}

// checkToken checks what neither the request nor the token's signature fixes: that the token's time
// is about now, which RFC 3161 2.4.2 leaves to the requester, and that the authority's certificate
// leads to a root. A clock that is further off would give signatures a time before or after they
// were made.
func (t *TSA) checkToken(token *tsp.Token, now time.Time) error {
	if skew := token.Time.Sub(now); skew.Abs() > ades.MaxSkew {
		return fmt.Errorf("token's time %s is %s off", token.Time.UTC().Format(time.RFC3339), skew.Abs().Round(time.Second))
	}
	if t.Roots == nil {
		return nil
	}
	sources := ades.Sources{Roots: t.Roots, Chains: t.Chains}
	_, err := sources.Chain(token.Certificate, slices.Concat(token.Certificates, t.Intermediates), token.Time)
	return err
}

// markTemporaryFailure adds [ades.ErrUnavailable] to refusals that depend on the moment and not on
// the request (PKIFailureInfo, RFC 3161 2.4.2).
func markTemporaryFailure(err error) error {
	var refused *tsp.StatusError
	if errors.As(err, &refused) && refused.Temporary() {
		return fmt.Errorf("%w: %w", ades.ErrUnavailable, err)
	}
	return err
}
