package httpapi

import (
	"crypto/sha256"
	"errors"
	"fmt"
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

// Limits are what callers share. The zero value limits no rates, and bodies by the default.
type Limits struct {
	// Client is how often one client may call, whatever its calls come to. Polls do not count: they
	// have a pace of their own (spec 1.9). The zero Rate is no limit.
	Client storage.Rate
	// Address is how often calls may come from one address without anybody being authenticated by them: those of
	// the endpoints that take a client's secret, and those with a token that is not valid. Calls with a valid token are never
	// refused for others of their address, nor those from this machine, where a proxy may be. The zero Rate is no limit, and
	// neither are wrong secrets limited then.
	Address storage.Rate
	// Buckets count the calls of clients for all servers of a deployment; nil: each counts its own. Those of
	// addresses each counts for itself: strangers are not to fill a store.
	Buckets storage.Buckets
	// Documents is how many bytes of bodies with documents are under way at once, and
	// how many of answers; 0 is 1280 MiB, which are 40 of the largest.
	Documents int64
	// Watch is told, before the first request, how to ask what bytes are under way: "requests" and "answers" with
	// documents, and what else is "held" of bodies. nil: nobody is.
	Watch func(what string, bytes func() int64)
}

// guesses is how often a client's secret may be wrong that is sent from one address. That is told for each
// address by itself, so that nobody locks a client out who is elsewhere, and for each client, so that
// nobody does who shares its address with others.
var guesses = storage.Rate{PerSecond: 1, Burst: 20}

// rates are the limiters of the API.
type rates struct{ clients, addresses, guesses *ratelimit.Limiter }

func newRates(l Limits) rates {
	r := rates{clients: ratelimit.New(l.Client, l.Buckets), addresses: ratelimit.New(l.Address, nil)}
	if l.Address != (storage.Rate{}) {
		r.guesses = ratelimit.New(guesses, nil)
	}
	return r
}

// counted lets the calls of a client through as often as it may call.
func (a *api) counted(call func(http.ResponseWriter, *http.Request, account.Caller) error) func(http.ResponseWriter, *http.Request, account.Caller) error {
	return func(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
		if err := tell(w, "client", a.clients.Take(r.Context(), caller.ClientID)); err != nil {
			return err
		}
		return call(w, r, caller)
	}
}

// fromStrangers lets calls through as often as they may come from an address of which nobody is known yet.
func (a *api) fromStrangers(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := a.strange(w, r); err != nil {
			return err
		}
		return h(w, r)
	}
}

// unlessStrange counts the calls that nobody is known to make, after the fact: who shares an address with
// their callers is not refused.
func (a *api) unlessStrange(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := h(w, r)
		var p *problem
		if !errors.As(err, &p) || p.Status != http.StatusUnauthorized {
			return err
		}
		if often := a.strange(w, r); often != nil {
			w.Header().Del("WWW-Authenticate")
			return often
		}
		return err
	}
}

// strange counts a call that nobody is known to make.
func (a *api) strange(w http.ResponseWriter, r *http.Request) error {
	place, ok := a.placeOf(r)
	if !ok {
		return nil
	}
	return refusedIf(w, "address", a.addresses.Take(r.Context(), place))
}

// guess does something with a client's secret, which is wrong if the error is account.ErrInvalidClient. Only
// then it counts: programs that share a client and its address may all begin at once.
func (a *api) guess(w http.ResponseWriter, r *http.Request, client string, try func() error) error {
	place, ok := a.placeOf(r)
	if !ok {
		return try()
	}
	key := guessed(place, client)
	if err := refusedIf(w, "address", a.guesses.Peek(key)); err != nil {
		return err
	}
	err := try()
	if errors.Is(err, account.ErrInvalidClient) {
		a.guesses.Take(r.Context(), key)
	}
	return err
}

// guessed is the key of a client at a place. The ID is as long as whoever sent it likes.
func guessed(place, client string) string {
	sum := sha256.Sum256([]byte(place + " " + client))
	return string(sum[:])
}

// placeOf is where a request comes from, for the limits; false when they do not apply to it: it comes from this
// machine, where a proxy may be, or from no address.
func (a *api) placeOf(r *http.Request) (string, bool) {
	address := a.Address(r)
	if !address.IsValid() || address.IsLoopback() {
		return "", false
	}
	return admission.ClientPrefix(address).String(), true
}

// peer is the other end of the connection.
func peer(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	return from.Addr().Unmap()
}

// refusedIf is the answer to a call that was one too many; nil when it was not. Who may go on hears
// nothing of the limit.
func refusedIf(w http.ResponseWriter, name string, d ratelimit.Decision) error {
	if d.Allowed {
		return nil
	}
	return tell(w, name, d)
}

// tell tells of a limit as draft-ietf-httpapi-ratelimit-headers does, and refuses the call that was one too
// many.
func tell(w http.ResponseWriter, name string, d ratelimit.Decision) error {
	if d.Rate == (storage.Rate{}) {
		return nil
	}
	window := time.Duration(d.Rate.Burst) * d.Rate.Cost()
	w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=%d`, name, d.Rate.Burst, seconds(window)))
	w.Header().Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, name, d.Remaining, seconds(d.Reset)))
	if d.Allowed {
		return nil
	}
	w.Header().Set("Retry-After", strconv.Itoa(max(1, seconds(d.RetryAfter))))
	return new(tooOften)
}

// seconds are whole ones, so that what is said to be over then is.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

var tooOften = titled(http.StatusTooManyRequests, "Too many requests", "More requests came than may just now. The header Retry-After says when to go on.")
