package online

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// Revocation asks the OCSP responders that a certificate names, and when none gives
// an answer to rely on, looks into the CRLs that it names. The zero value is ready.
// It may be used by several goroutines, and keeps what it was told until the
// nextUpdate, though for a day at most. Answers of more than 1 MiB, as CRLs may be, are
// read two at a time.
type Revocation struct {
	Client *http.Client // nil: one of [NewClient], public addresses only
	// Hash is that of the CertID (RFC 6960 4.1.1); zero: SHA-1, the only one that every
	// responder knows (RFC 5019 2.1.1). It identifies and protects nothing.
	Hash crypto.Hash

	guarded guarded
	answers cache[finding]
	lists   cache[*crl.List]
	large   slots
}

// question is what is asked: [ades.Revocation] has the terms.
type question struct {
	cert, issuer *x509.Certificate
	notBefore    time.Time
}

// finding is a proof and what it says.
type finding struct {
	proof   ades.RevocationData
	revoked *ades.RevokedError // nil: good
}

// Revocation implements [ades.Revocation].
func (r *Revocation) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	q := question{cert, issuer, notBefore}
	var failures []error
	for _, way := range r.ways(cert) {
		found, err := way.ask(ctx, way.address, q)
		switch {
		case err == nil && found.revoked != nil:
			return found.proof, found.revoked
		case err == nil:
			return found.proof, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", redacted(way.address), err))
		if ctx.Err() != nil {
			break // whoever asked went away
		}
	}
	return ades.RevocationData{}, q.unanswered(failures)
}

// way is an address to ask, and how.
type way struct {
	address string
	ask     func(ctx context.Context, address string, q question) (finding, error)
}

// ways lists OCSP first: its answers are newer and smaller than CRLs.
func (r *Revocation) ways(cert *x509.Certificate) []way {
	var all []way
	for _, address := range firstAddresses(cert.OCSPServer) {
		all = append(all, way{address, r.byOCSP})
	}
	for _, address := range firstAddresses(cert.CRLDistributionPoints) {
		all = append(all, way{address, r.byCRL})
	}
	return all
}

func (q question) unanswered(failures []error) error {
	if len(failures) == 0 {
		return fmt.Errorf("%w for %s: it names no responder and no CRL", ades.ErrNoRevocation, ades.Identify(q.cert))
	}
	return fmt.Errorf("%w for %s: %w", ades.ErrNoRevocation, ades.Identify(q.cert), errors.Join(failures...))
}

// key names what an address says about certificates, under their issuer's.
func key(address string, certificates ...*x509.Certificate) string {
	out := address
	for _, c := range certificates {
		sum := sha256.Sum256(c.Raw)
		out += "\x00" + string(sum[:])
	}
	return out
}

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

// byCRL looks into one list. It is fetched anew for a signer and shared by all other
// certificates of the issuer while it is in force.
func (r *Revocation) byCRL(ctx context.Context, address string, q question) (finding, error) {
	asked := time.Now()
	list, err := r.list(ctx, address, q)
	if err != nil {
		return finding{}, err
	}
	if err := q.accepts(list, asked); err != nil {
		return finding{}, err
	}
	entry, err := list.Find(q.cert)
	if err != nil {
		return finding{}, err
	}
	found := finding{proof: ades.RevocationData{CRL: list.Raw}}
	if entry != nil {
		found.revoked = &ades.RevokedError{Certificate: q.cert, At: entry.RevokedAt, Reason: entry.Reason}
	}
	return found, nil
}

// accepts checks that a list is in force and covers the time that is asked for (RFC 5280 6.3.3).
func (q question) accepts(list *crl.List, asked time.Time) error {
	t := term{list.ThisUpdate, list.NextUpdate}
	if err := t.inForce(asked); err != nil {
		return err
	}
	return t.covers(q.notBefore)
}

func (r *Revocation) list(ctx context.Context, address string, q question) (*crl.List, error) {
	fetch := func(ctx context.Context) (fetched[*crl.List], error) { return r.fetchList(ctx, address, q) }
	if !q.notBefore.IsZero() {
		list, err := fetch(ctx)
		return list.value, err
	}
	return r.lists.get(ctx, key(address, q.issuer), fetch)
}

// fetchList returns a list that the issuer signed. One that does not say when the next
// comes, as RFC 5280 5.1.2.5 requires, may be of any age.
func (r *Revocation) fetchList(ctx context.Context, address string, q question) (fetched[*crl.List], error) {
	body, err := exchange{
		url:     address,
		accepts: "application/pkix-crl, */*;q=0.5",
		limit:   crl.MaxSize,
		timeout: largeTimeout,
		large:   &r.large,
	}.do(ctx, r.guarded.client(r.Client))
	if err != nil {
		return fetched[*crl.List]{}, err
	}
	list, err := crl.Parse(body)
	if err != nil {
		return fetched[*crl.List]{}, err
	}
	if err := list.Verify(q.issuer); err != nil {
		return fetched[*crl.List]{}, fmt.Errorf("verifying the CRL: %w", err)
	}
	if list.NextUpdate.IsZero() {
		return fetched[*crl.List]{}, errors.New("CRL without nextUpdate")
	}
	return fetched[*crl.List]{list, int64(len(list.Raw)), list.NextUpdate}, nil
}

// term is since when a proof is known to be right, and by when there will be a newer one.
type term struct {
	thisUpdate time.Time
	nextUpdate time.Time // zero when absent
}

// inForce checks the term as of the time of the question. Where nothing says when there
// will be a newer proof there is one at any time (RFC 6960 4.2.2.1), and an old one says
// too little (3.2 item 5 there). A proof that is too old is followed by another.
func (t term) inForce(asked time.Time) error {
	switch {
	case t.thisUpdate.After(asked.Add(ades.MaxSkew)):
		return fmt.Errorf("thisUpdate %s is in the future", stamp(t.thisUpdate))
	case t.nextUpdate.IsZero() && t.thisUpdate.Before(asked.Add(-ades.MaxSkew)):
		return fmt.Errorf("%w: thisUpdate %s is past, without a nextUpdate", ades.ErrUnavailable, stamp(t.thisUpdate))
	case !t.nextUpdate.IsZero() && t.nextUpdate.Before(asked):
		return fmt.Errorf("%w: nextUpdate was at %s", ades.ErrUnavailable, stamp(t.nextUpdate))
	}
	return nil
}

// covers checks that an answer is about a time: it was made then or later, in seconds as authorities count, or was in
// force then. Many responders prepare their answers, and the next one may be hours away: EU DSS and pyHanko accept such an
// answer for level LT.
func (t term) covers(notBefore time.Time) error {
	if t.thisUpdate.Before(notBefore.Truncate(time.Second)) && !t.nextUpdate.After(notBefore) {
		return fmt.Errorf("%w: thisUpdate %s is before %s", ades.ErrUnavailable, stamp(t.thisUpdate), stamp(notBefore))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
