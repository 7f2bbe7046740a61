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

// Revocation asks the OCSP responders that a certificate names. If none gives a reliable response,
// it reads the CRLs that the certificate names. The zero value is ready to use. Several goroutines
// may use it at once. At most two responses of more than 1 MiB, usually CRLs, are read at once.
//
// It caches responses until their nextUpdate, but for a day at most. A call that states a time that
// the data has to cover (the notBefore of [ades.Revocation]) neither reads nor fills the cache,
// except in a Batch.
type Revocation struct {
	Client *http.Client // nil: one from [NewClient], for public addresses only
	// Hash is the hash algorithm of the CertID (RFC 6960 4.1.1); zero: SHA-1, the only one that
	// every responder supports (RFC 5019 2.1.1). It only identifies the issuer, so its weakness
	// does no harm.
	Hash crypto.Hash
	// Chains, if not nil, caches which signatures were verified. If it is the Chains of
	// [ades.Sources], a signature that is verified here is not verified again there.
	Chains *ades.Chains
	// Batch lets calls with a notBefore read and fill the cache as well. It is for a program that
	// verifies a batch of documents and makes a Revocation for them: all answers are then newer than
	// the start of the batch, and documents with the same signer or the same CRL share one request.
	// It is not for signing, whose revocation data is to be newer than the signature.
	Batch bool

	guarded   guarded // makes the client if Client is nil
	ocspCache cache[certStatus]
	crlCache  cache[*crl.List]
	large     semaphore // for responses of more than 1 MiB
}

// statusRequest is one call of [ades.Revocation] and its arguments.
type statusRequest struct {
	cert, issuer *x509.Certificate
	notBefore    time.Time // that the data has to cover; zero: any current data
}

// certStatus is revocation data and the status that it states.
type certStatus struct {
	data    ades.RevocationData
	revoked *ades.RevokedError // nil: good
}

// statusSource is an address and the method that gets a status from it.
type statusSource struct {
	kind    ades.SourceKind
	address string
	query   func(ctx context.Context, address string, q statusRequest) (certStatus, error)
}

// updatePeriod is the period for which revocation data is valid.
type updatePeriod struct {
	thisUpdate time.Time
	nextUpdate time.Time // zero when absent
}

// Revocation implements [ades.Revocation]. It returns the first status that a source gives.
func (r *Revocation) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	q := statusRequest{cert: cert, issuer: issuer, notBefore: notBefore}
	var errs []error
	for _, source := range r.sources(cert) {
		found, err := source.query(ctx, source.address, q)
		switch {
		case err == nil && found.revoked != nil:
			return found.data, found.revoked
		case err == nil:
			return found.data, nil
		}
		errs = append(errs, sourceError(source.kind, source.address, err))
		if ctx.Err() != nil {
			break // the caller gave up
		}
	}
	return ades.RevocationData{}, q.noStatusError(errs)
}

// sources returns the OCSP responders before the CRLs, because OCSP responses are newer and
// smaller.
func (r *Revocation) sources(cert *x509.Certificate) []statusSource {
	var all []statusSource
	for _, address := range httpAddresses(cert.OCSPServer) {
		all = append(all, statusSource{ades.OCSPResponder, address, r.queryOCSP})
	}
	for _, address := range httpAddresses(cert.CRLDistributionPoints) {
		all = append(all, statusSource{ades.CRLServer, address, r.queryCRL})
	}
	return all
}

func (q statusRequest) noStatusError(errs []error) error {
	if len(errs) == 0 {
		return fmt.Errorf("%w for %s: the certificate names no responder and no CRL", ades.ErrNoRevocation, ades.Identify(q.cert))
	}
	return fmt.Errorf("%w for %s: %w", ades.ErrNoRevocation, ades.Identify(q.cert), errors.Join(errs...))
}

// cacheKey returns the cache key for an address and certificates.
func cacheKey(address string, certificates ...*x509.Certificate) string {
	out := address
	for _, c := range certificates {
		sum := sha256.Sum256(c.Raw)
		out += "\x00" + string(sum[:])
	}
	return out
}

const (
	nonceSize = 32  // RFC 9654 2.1
	maxGET    = 255 // bytes of the whole address of a GET request (RFC 6960 A.1)
)

// bypassesCache reports whether a request neither reads nor fills the cache.
func (r *Revocation) bypassesCache(q statusRequest) bool { return !q.notBefore.IsZero() && !r.Batch }

// queryOCSP gets the status from one responder. The cache key includes notBefore, because a response
// is checked for that time only.
func (r *Revocation) queryOCSP(ctx context.Context, address string, q statusRequest) (certStatus, error) {
	fetch := func(ctx context.Context) (fetched[certStatus], error) { return r.fetchStatus(ctx, address, q) }
	if r.bypassesCache(q) {
		status, err := fetch(ctx)
		return status.value, err
	}
	return r.ocspCache.get(ctx, cacheKey(address+"\x00"+formatTime(q.notBefore), q.cert, q.issuer), fetch)
}

func (r *Revocation) fetchStatus(ctx context.Context, address string, q statusRequest) (fetched[certStatus], error) {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	request, err := ocsp.NewRequest(q.cert, q.issuer, cmp.Or(r.Hash, crypto.SHA1), nonce).Marshal()
	if err != nil {
		return fetched[certStatus]{}, err
	}
	requestedAt := time.Now()
	response, err := r.send(ctx, address, request)
	if err != nil {
		return fetched[certStatus]{}, markTemporaryRefusal(err)
	}
	single, err := q.checkResponse(response, nonce, requestedAt, r.Chains)
	if err != nil {
		return fetched[certStatus]{}, err
	}
	return q.statusOf(response, single)
}

// send uses GET if the address remains short enough, and POST if it does not or if the responder
// does not accept GET (RFC 6960 A.1).
func (r *Revocation) send(ctx context.Context, address string, request []byte) (*ocsp.Response, error) {
	getURL := address + separator(address) + url.QueryEscape(base64.StdEncoding.EncodeToString(request))
	if len(getURL) <= maxGET {
		response, err := r.sendOnce(ctx, getURL, nil)
		if err == nil || !refusesGET(err) {
			return response, err
		}
	}
	return r.sendOnce(ctx, address, request)
}

func separator(address string) string {
	if strings.HasSuffix(address, "/") {
		return ""
	}
	return "/"
}

// refusesGET reports whether the server answered but did not understand the request.
func refusesGET(err error) bool {
	var status *statusError
	if errors.As(err, &status) {
		return !status.isTemporary()
	}
	var refused *ocsp.StatusError
	return errors.As(err, &refused) && refused.Status == ocsp.MalformedRequest || errors.Is(err, ocsp.ErrFormat)
}

// sendOnce sends a request by POST. If request is nil, it uses GET, and the address contains the
// request.
func (r *Revocation) sendOnce(ctx context.Context, address string, request []byte) (*ocsp.Response, error) {
	e := exchange{
		url:     address,
		accept:  "application/ocsp-response",
		limit:   smallLimit,
		timeout: shortTimeout,
	}
	if request != nil {
		e.body, e.contentType = request, "application/ocsp-request"
	}
	body, err := e.do(ctx, r.guarded.client(r.Client))
	if err != nil {
		return nil, err
	}
	return ocsp.Parse(body)
}

// checkResponse checks a response against the request, verifies it, and returns the part about the
// certificate. A responder that signs responses in advance leaves the nonce out (RFC 9654 2.1). Then
// only the times in the response show how new it is.
func (q statusRequest) checkResponse(response *ocsp.Response, nonce []byte, requestedAt time.Time, chains *ades.Chains) (*ocsp.Single, error) {
	single, ok := response.For(q.cert, q.issuer)
	if !ok {
		return nil, errors.New("response is about other certificates")
	}
	if response.Nonce != nil && !bytes.Equal(response.Nonce, nonce) {
		return nil, errors.New("response to another request: the nonce differs")
	}
	responder, err := response.VerifyWith(q.issuer, ades.Sources{Chains: chains})
	if err != nil {
		return nil, err
	}
	if requestedAt.After(responder.NotAfter) { // VerifyWith checks the validity at ProducedAt
		return nil, fmt.Errorf("responder's %s: %w", ades.Identify(responder), ades.ErrOutsideValidity)
	}
	return single, updatePeriod{single.ThisUpdate, single.NextUpdate}.check(requestedAt, q.notBefore)
}

// statusOf returns the status in a response. A revocation is not cached, because the certificate may
// only be on hold.
func (q statusRequest) statusOf(response *ocsp.Response, single *ocsp.Single) (fetched[certStatus], error) {
	status := certStatus{data: ades.RevocationData{OCSP: response.Raw}}
	switch single.Status {
	case ocsp.Good:
		return fetched[certStatus]{value: status, size: int64(len(response.Raw)), until: single.NextUpdate}, nil
	case ocsp.Revoked:
		status.revoked = &ades.RevokedError{Certificate: q.cert, At: single.RevokedAt, Reason: single.Reason}
		return fetched[certStatus]{value: status}, nil
	}
	return fetched[certStatus]{}, fmt.Errorf("responder answers %q", single.Status)
}

// markTemporaryRefusal adds [ades.ErrUnavailable] to the response statuses tryLater and
// internalError, which depend on the moment and not on the request (RFC 6960 2.3).
func markTemporaryRefusal(err error) error {
	var refused *ocsp.StatusError
	if errors.As(err, &refused) && (refused.Status == ocsp.TryLater || refused.Status == ocsp.InternalError) {
		return fmt.Errorf("%w: %w", ades.ErrUnavailable, err)
	}
	return err
}

// queryCRL gets the status from one CRL.
func (r *Revocation) queryCRL(ctx context.Context, address string, q statusRequest) (certStatus, error) {
	requestedAt := time.Now()
	list, err := r.getList(ctx, address, q)
	if err != nil {
		return certStatus{}, err
	}
	if err := (updatePeriod{list.ThisUpdate, list.NextUpdate}).check(requestedAt, q.notBefore); err != nil {
		return certStatus{}, err
	}
	entry, err := list.Find(q.cert)
	if err != nil {
		return certStatus{}, err
	}
	status := certStatus{data: ades.RevocationData{CRL: list.Raw}}
	if entry != nil {
		status.revoked = &ades.RevokedError{Certificate: q.cert, At: entry.RevokedAt, Reason: entry.Reason}
	}
	return status, nil
}

// getList returns the CRL at an address. The cache key is without the certificate, so that all
// certificates of the issuer share a CRL.
func (r *Revocation) getList(ctx context.Context, address string, q statusRequest) (*crl.List, error) {
	fetch := func(ctx context.Context) (fetched[*crl.List], error) { return r.fetchList(ctx, address, q) }
	if r.bypassesCache(q) {
		list, err := fetch(ctx)
		return list.value, err
	}
	return r.crlCache.get(ctx, cacheKey(address, q.issuer), fetch)
}

// fetchList returns a CRL that the issuer signed. It refuses a CRL without nextUpdate, which RFC
// 5280 5.1.2.5 requires, because such a CRL may be of any age.
func (r *Revocation) fetchList(ctx context.Context, address string, q statusRequest) (fetched[*crl.List], error) {
	body, err := exchange{
		url:     address,
		accept:  "application/pkix-crl, */*;q=0.5",
		limit:   crl.MaxSize,
		timeout: longTimeout,
		large:   &r.large,
	}.do(ctx, r.guarded.client(r.Client))
	if err != nil {
		return fetched[*crl.List]{}, err
	}
	list, err := crl.Parse(body)
	if err != nil {
		return fetched[*crl.List]{}, err
	}
	sum := func() [sha256.Size]byte { return sha256.Sum256(list.Raw) }
	verify := func() error { return list.Verify(q.issuer) }
	if err := (ades.Sources{Chains: r.Chains}).CheckSigned(sum, q.issuer, verify); err != nil {
		return fetched[*crl.List]{}, fmt.Errorf("verifying the CRL: %w", err)
	}
	if list.NextUpdate.IsZero() {
		return fetched[*crl.List]{}, errors.New("CRL without nextUpdate")
	}
	return fetched[*crl.List]{value: list, size: int64(len(list.Raw)), until: list.NextUpdate}, nil
}

// check checks that revocation data was current at the time of the request, and covers notBefore
// (RFC 5280 6.3.3). The error for data that is too old is [ades.ErrUnavailable], because newer data
// will follow.
func (p updatePeriod) check(requestedAt, notBefore time.Time) error {
	if err := p.checkCurrent(requestedAt); err != nil {
		return err
	}
	return p.checkCovers(notBefore)
}

// checkCurrent checks that the data was current at the time of the request. Without a nextUpdate,
// newer data is always available (RFC 6960 4.2.2.1), so the thisUpdate has to be recent (RFC 6960
// 3.2 item 5).
func (p updatePeriod) checkCurrent(requestedAt time.Time) error {
	switch {
	case p.thisUpdate.After(requestedAt.Add(ades.MaxSkew)):
		return fmt.Errorf("thisUpdate %s is in the future", formatTime(p.thisUpdate))
	case p.nextUpdate.IsZero() && p.thisUpdate.Before(requestedAt.Add(-ades.MaxSkew)):
		return fmt.Errorf("%w: thisUpdate %s is past, without a nextUpdate", ades.ErrUnavailable, formatTime(p.thisUpdate))
	case !p.nextUpdate.IsZero() && p.nextUpdate.Before(requestedAt):
		return fmt.Errorf("%w: nextUpdate was at %s", ades.ErrUnavailable, formatTime(p.nextUpdate))
	}
	return nil
}

// checkCovers checks that the data was issued at notBefore or later, in whole seconds as authorities
// count, or is still valid after notBefore. Many responders prepare their responses, and the next
// one may be hours away: EU DSS and pyHanko accept such a response for level LT.
func (p updatePeriod) checkCovers(notBefore time.Time) error {
	if p.thisUpdate.Before(notBefore.Truncate(time.Second)) && !p.nextUpdate.After(notBefore) {
		return fmt.Errorf("%w: thisUpdate %s is before %s", ades.ErrUnavailable, formatTime(p.thisUpdate), formatTime(notBefore))
	}
	return nil
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
