package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/ratelimit"
	"github.com/innsigli/innsigli/internal/admission"
	"github.com/innsigli/innsigli/storage"
)

// Limits limit how often callers call, and how many bytes are in flight. The zero value limits no rates, and bytes by
// the default.
type Limits struct {
	// Client is how often one client may call, whether its calls succeed or fail. Polls do not count, because they
	// have an interval of their own (spec 1.9). The zero Rate is no limit.
	Client storage.Rate
	// Address is how often one address may send unauthenticated calls: calls of the endpoints that take a client's
	// secret, and calls with an invalid token. Calls with a valid token are never refused because of others from
	// their address, and neither are calls from the loopback address, which may come from a proxy. The zero Rate is no
	// limit, and turns off the limit of wrong secrets as well.
	Address storage.Rate
	// Buckets count the calls of clients for all servers of a deployment. If nil, each server counts for itself. Each
	// server counts addresses for itself, so that unauthenticated clients cannot fill the store.
	Buckets storage.Buckets
	// Documents is how many bytes of request bodies with documents may be in flight at once, and how many of answers
	// with documents. 0 is 1280 MiB, enough for 40 of the largest.
	Documents int64
	// Watch, unless nil, is called by New for each kind of bytes with a function that returns how many are in flight:
	// "requests" and "answers" with documents, and "held" for parts of bodies that are in memory.
	Watch func(what string, bytes func() int64)
}

// secretGuesses is how often one address may send a wrong secret of one client. It is counted for each pair of
// address and client: so an attacker cannot lock out a client at another address, nor other clients at its own.
var secretGuesses = storage.Rate{PerSecond: 1, Burst: 20}

// rates are the rate limiters of the API.
type rates struct{ clients, addresses, guesses *ratelimit.Limiter }

func newRates(l Limits) rates {
	r := rates{clients: ratelimit.New(l.Client, l.Buckets), addresses: ratelimit.New(l.Address, nil)}
	if l.Address != (storage.Rate{}) {
		r.guesses = ratelimit.New(secretGuesses, nil)
	}
	return r
}

// limitClient refuses calls of a client that exceed Limits.Client.
func (a *api) limitClient(call callHandler) callHandler {
	return func(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
		if err := applyLimit(w, "client", a.clients.Take(r.Context(), caller.ClientID)); err != nil {
			return err
		}
		return call(w, r, caller)
	}
}

// limitAddress refuses calls from an address that exceed Limits.Address.
func (a *api) limitAddress(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := a.limitUnauthenticated(w, r); err != nil {
			return err
		}
		return h(w, r)
	}
}

// limitFailedAuth counts calls whose authentication fails against their address. It counts them afterwards, so that
// authenticated callers at the same address are not refused.
func (a *api) limitFailedAuth(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := h(w, r)
		var p *problem
		if !errors.As(err, &p) || p.Status != http.StatusUnauthorized {
			return err
		}
		if exceeded := a.limitUnauthenticated(w, r); exceeded != nil {
			w.Header().Del("WWW-Authenticate")
			return exceeded
		}
		return err
	}
}

// limitUnauthenticated counts an unauthenticated call against its address.
func (a *api) limitUnauthenticated(w http.ResponseWriter, r *http.Request) error {
	key, ok := a.clientKey(r)
	if !ok {
		return nil
	}
	return refuseOverLimit(w, "address", a.addresses.Take(r.Context(), key))
}

// limitSecretGuesses calls try, which checks a secret of the client and returns account.ErrInvalidClient if it is
// wrong. Only wrong secrets count, because programs that share a client and an address may all start at once.
func (a *api) limitSecretGuesses(w http.ResponseWriter, r *http.Request, client string, try func() error) error {
	address, ok := a.clientKey(r)
	if !ok {
		return try()
	}
	key := guessKey(address, client)
	if err := refuseOverLimit(w, "address", a.guesses.Peek(key)); err != nil {
		return err
	}
	err := try()
	if errors.Is(err, account.ErrInvalidClient) {
		a.guesses.Take(r.Context(), key)
	}
	return err
}

// guessKey returns a key of fixed length for a client at an address. The caller chooses the length of the client ID.
func guessKey(address, client string) string {
	sum := sha256.Sum256([]byte(address + " " + client))
	return string(sum[:])
}

// clientKey returns the prefix of the request's address as the key of the limits by address. It returns false if
// these do not apply: the request came from the loopback address, or its address is not known.
func (a *api) clientKey(r *http.Request) (string, bool) {
	address := a.Address(r)
	if !address.IsValid() || address.IsLoopback() {
		return "", false
	}
	return admission.ClientPrefix(address).String(), true
}

// remoteAddress returns the address of the other end of the connection.
func remoteAddress(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return from.Addr().Unmap()
}

// refuseOverLimit is like applyLimit, but sets the headers only for a refused call.
func refuseOverLimit(w http.ResponseWriter, name string, d ratelimit.Decision) error {
	if d.Allowed {
		return nil
	}
	return applyLimit(w, name, d)
}

// applyLimit sets the headers of draft-ietf-httpapi-ratelimit-headers, and returns the answer to a refused call.
func applyLimit(w http.ResponseWriter, name string, d ratelimit.Decision) error {
	if d.Rate == (storage.Rate{}) {
		return nil
	}
	window := time.Duration(d.Rate.Burst) * d.Rate.Cost()
	w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=%d`, name, d.Rate.Burst, ceilSeconds(window)))
	w.Header().Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, name, d.Remaining, ceilSeconds(d.Reset)))
	if d.Allowed {
		return nil
	}
	w.Header().Set("Retry-After", strconv.Itoa(max(1, ceilSeconds(d.RetryAfter))))
	return new(tooManyRequests)
}

// ceilSeconds rounds up, so that a client which waits that long has waited enough.
func ceilSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

const (
	defaultDocuments = 1280 << 20
	// budgetTimeout is how long a request waits for a byte budget.
	budgetTimeout = 10 * time.Second
	// A body is held in memory, except for its document. The first freeBodyBytes do not count: they cost no more than
	// the connection, and most bodies are shorter. Longer bodies share bodyBudget, and count twice, because a buffer
	// may double while it grows.
	bodyBudget    = 64 << 20
	freeBodyBytes = 16 << 10
	// maxFieldBytes is the longest body without its document. An image may have 2 MiB (docs/stamps.md), which are 2.7
	// in Base64.
	maxFieldBytes = 4 << 20
)

// budgets are the bytes that requests share. One account gets at most half of each.
type budgets struct {
	requests, answers *admission.ByteBudget // with documents
	bodies            *admission.ByteBudget // in memory
}

func newBudgets(l Limits) budgets {
	size := l.Documents
	if size == 0 {
		size = defaultDocuments
	}
	budget := func(size int64) *admission.ByteBudget { return admission.NewByteBudget(size, size/2, budgetTimeout) }
	all := budgets{requests: budget(size), answers: budget(size), bodies: budget(bodyBudget)}
	if l.Watch != nil {
		l.Watch("requests", all.requests.Acquired)
		l.Watch("answers", all.answers.Acquired)
		l.Watch("held", all.bodies.Acquired)
	}
	return all
}

// budgetRetryAfter is the Retry-After of budgetExhausted in seconds.
const budgetRetryAfter = "2"

// acquire acquires n bytes of a budget for an account. Its error is the answer to the request.
func acquire(ctx context.Context, w http.ResponseWriter, budget *admission.ByteBudget, account string, n int64) (release func(), err error) {
	release, err = budget.Acquire(ctx, account, n)
	if errors.Is(err, admission.ErrFull) {
		w.Header().Set("Retry-After", budgetRetryAfter)
		return nil, new(budgetExhausted)
	}
	if err != nil {
		return nil, errClientGone
	}
	return release, nil
}

// slots limits how many calls do the same work at a time: its capacity.
type slots chan struct{}

// acquire waits for a slot. Its error is that of ctx, if that ends first.
func (s slots) acquire(ctx context.Context) (release func(), err error) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// budgetedBody is a body without a document. It calls acquire before it reads more than freeBodyBytes.
type budgetedBody struct {
	io.ReadCloser
	acquire  func() error
	acquired bool
	read     int
}

func (b *budgetedBody) Read(p []byte) (int, error) {
	if b.read >= freeBodyBytes && !b.acquired {
		if err := b.acquire(); err != nil {
			return 0, err
		}
		b.acquired = true
	}
	n, err := b.ReadCloser.Read(p)
	b.read += n
	return n, err
}

// limitBodies makes the bodies of a call without a document share the budget of bodies.
func (a *api) limitBodies(call callHandler) callHandler {
	return func(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
		release := func() {}
		body := &budgetedBody{ReadCloser: r.Body, acquire: func() error {
			acquired, err := acquire(r.Context(), w, a.bodies, caller.AccountID, 2*maxSmallBody)
			if err == nil {
				release = acquired
			}
			return err
		}}
		r.Body = body
		defer func() {
			body.acquired = true // the server discards what it reads after the answer
			release()
		}()
		return call(w, r, caller)
	}
}
