package online

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

const (
	nonceSize = 32  // RFC 9654 2.1
	maxGET    = 255 // bytes of an address that asks by GET (RFC 6960 A.1)
)

// byOCSP asks one responder. What is told about a signer is never kept, nor taken
// from what is.
func (r *Revocation) byOCSP(ctx context.Context, address string, q question) (finding, error) {
	ask := func(ctx context.Context) (fetched[finding], error) { return r.askResponder(ctx, address, q) }
	if !q.notBefore.IsZero() {
		answer, err := ask(ctx)
		return answer.value, err
	}
	return r.answers.get(ctx, key(address, q.cert, q.issuer), ask)
}

func (r *Revocation) askResponder(ctx context.Context, address string, q question) (fetched[finding], error) {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	request, err := ocsp.NewRequest(q.cert, q.issuer, cmp.Or(r.Hash, crypto.SHA1), nonce).Marshal()
	if err != nil {
		return fetched[finding]{}, err
	}
	asked := time.Now()
	response, err := r.send(ctx, address, request)
	if err != nil {
		return fetched[finding]{}, refusedStatus(err)
	}
	return q.read(response, nonce, asked)
}

// send asks by GET where the address stays short enough, and by POST where it does
// not or the responder does not take GET (RFC 6960 A.1).
func (r *Revocation) send(ctx context.Context, address string, request []byte) (*ocsp.Response, error) {
	if get := address + separator(address) + url.QueryEscape(base64.StdEncoding.EncodeToString(request)); len(get) <= maxGET {
		response, err := r.exchange(ctx, get, nil)
		if err == nil || !refusesGET(err) {
			return response, err
		}
	}
	return r.exchange(ctx, address, request)
}

func separator(address string) string {
	if strings.HasSuffix(address, "/") {
		return ""
	}
	return "/"
}

// refusesGET says whether a server is there and did not understand.
func refusesGET(err error) bool {
	var status *statusError
	if errors.As(err, &status) {
		return !status.temporary()
	}
	var refused *ocsp.StatusError
	return errors.As(err, &refused) && refused.Status == ocsp.MalformedRequest || errors.Is(err, ocsp.ErrFormat)
}

func (r *Revocation) exchange(ctx context.Context, address string, request []byte) (*ocsp.Response, error) {
	e := exchange{
		url:     address,
		accepts: "application/ocsp-response",
		limit:   smallAnswer,
		timeout: smallTimeout,
	}
	if request != nil {
		e.body, e.sends = request, "application/ocsp-request"
	}
	body, err := e.do(ctx, r.guarded.client(r.Client))
	if err != nil {
		return nil, err
	}
	return ocsp.Parse(body)
}

// read checks a response against the question. A responder may leave the nonce out,
// as those do that sign ahead (RFC 9654 2.1); then its times alone say how new it is.
func (q question) read(response *ocsp.Response, nonce []byte, asked time.Time) (fetched[finding], error) {
	single, ok := response.For(q.cert, q.issuer)
	if !ok {
		return fetched[finding]{}, errors.New("response is about other certificates")
	}
	if response.Nonce != nil && !bytes.Equal(response.Nonce, nonce) {
		return fetched[finding]{}, errors.New("response to another request: the nonce differs")
	}
	responder, err := response.Verify(q.issuer)
	if err != nil {
		return fetched[finding]{}, err
	}
	if asked.After(responder.NotAfter) {
		return fetched[finding]{}, fmt.Errorf("responder's %s: %w", ades.Identify(responder), ades.ErrOutsideValidity)
	}
	t := term{single.ThisUpdate, single.NextUpdate}
	if err := t.inForce(asked); err != nil {
		return fetched[finding]{}, err
	}
	if err := t.covers(q.notBefore); err != nil {
		return fetched[finding]{}, err
	}
	return q.answer(response, single)
}

func (q question) answer(response *ocsp.Response, single *ocsp.Single) (fetched[finding], error) {
	found := finding{proof: ades.RevocationData{OCSP: response.Raw}}
	switch single.Status {
	case ocsp.Good:
		return fetched[finding]{found, int64(len(response.Raw)), single.NextUpdate}, nil
	case ocsp.Revoked: // not kept: it may have been put on hold
		found.revoked = &ades.RevokedError{Certificate: q.cert, At: single.RevokedAt, Reason: single.Reason}
		return fetched[finding]{value: found}, nil
	}
	return fetched[finding]{}, fmt.Errorf("responder answers %q", single.Status)
}

// refusedStatus adds [ades.ErrUnavailable] to refusals that are about the moment and
// not about the request (RFC 6960 2.3).
func refusedStatus(err error) error {
	var refused *ocsp.StatusError
	if errors.As(err, &refused) && (refused.Status == ocsp.TryLater || refused.Status == ocsp.InternalError) {
		return fmt.Errorf("%w: %w", ades.ErrUnavailable, err)
	}
	return err
}
