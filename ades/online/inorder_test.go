package online_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
)

func TestInOrderFallsOver(t *testing.T) {
	w := newWorld(t)
	unit := w.unit(t, x509.Certificate{})
	var asked atomic.Int32
	serve := func(path string, h http.HandlerFunc) *online.TSA {
		w.mux.HandleFunc(path, func(rw http.ResponseWriter, r *http.Request) { asked.Add(1); h(rw, r) })
		return &online.TSA{URL: w.url + path}
	}
	down, lying, good := serve("/down", status(503)), serve("/lying", at(unit, time.Hour)), serve("/good", at(unit, 0))
	untrusted := serve("/untrusted", at(newWorld(t).unit(t, x509.Certificate{}), 0))
	untrusted.Roots = pool(w)

	token, err := online.InOrder{down, lying, untrusted, good, down}.Timestamp(t.Context(), crypto.SHA256, imprint[:])
	checkToken(t, token, err)
	if n := asked.Load(); n != 4 {
		t.Errorf("%d authorities were asked", n)
	}

	_, err = online.InOrder{lying, down}.Timestamp(t.Context(), crypto.SHA256, imprint[:])
	if !errors.Is(err, ades.ErrTimestamp) || !errors.Is(err, ades.ErrUnavailable) || !strings.Contains(err.Error(), "/lying") || !strings.Contains(err.Error(), "/down") {
		t.Error(err)
	}
	if _, err := (online.InOrder{lying}).Timestamp(t.Context(), crypto.SHA256, imprint[:]); errors.Is(err, ades.ErrUnavailable) {
		t.Error(err)
	}
	if _, err := (online.InOrder{}).Timestamp(t.Context(), crypto.SHA256, imprint[:]); !errors.Is(err, ades.ErrTimestamp) {
		t.Error(err)
	}
}

// Who went away is not kept busy with further authorities.
func TestInOrderEndsWithItsContext(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	asked := 0
	leaving := timestamper(func() error { asked++; leave(); return gone.Err() })
	if _, err := (online.InOrder{leaving, leaving}).Timestamp(gone, crypto.SHA256, imprint[:]); !errors.Is(err, context.Canceled) || asked != 1 {
		t.Errorf("%d authorities were asked: %v", asked, err)
	}
}

// timestamper is an authority that fails.
type timestamper func() error

func (f timestamper) Timestamp(context.Context, crypto.Hash, []byte) ([]byte, error) { return nil, f() }
