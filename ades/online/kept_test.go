package online_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// counted counts the requests to a handler.
func counted(n *atomic.Int32, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n.Add(1); h.ServeHTTP(w, r) })
}

// What is told about authorities is asked for once; about a signer, with the time of
// the signature, each time.
func TestRevocationIsKeptButForSigners(t *testing.T) {
	w, signed := newWorld(t), time.Now()
	var ocsps, crls atomic.Int32
	w.mux.Handle("/ocsp/", counted(&ocsps, responder{delegate(t, w.root, forOCSP()), nil}))
	w.mux.Handle("/crl", counted(&crls, body(list(t, w.root, x509.RevocationList{}))))
	source := &online.Revocation{Client: local()}
	byOCSP, other := w.signer(t, []string{"/ocsp"}, nil), w.signer(t, []string{"/ocsp"}, nil)
	byCRL, otherByCRL := w.signer(t, nil, []string{"/crl"}), w.signer(t, nil, []string{"/crl"})

	for _, step := range []struct {
		name       string
		signer     pair
		notBefore  time.Time
		ocsp, crls int32
	}{
		{"first", byOCSP, time.Time{}, 1, 0},
		{"kept", byOCSP, time.Time{}, 1, 0},
		{"another certificate", other, time.Time{}, 2, 0},
		{"a signer, not from what is kept", byOCSP, signed, 3, 0},
		{"a signer again", byOCSP, signed, 4, 0},
		{"first list", byCRL, time.Time{}, 4, 1},
		{"kept list", byCRL, time.Time{}, 4, 1},
		{"kept list for another certificate", otherByCRL, time.Time{}, 4, 1},
		{"list for a signer", byCRL, signed, 4, 2},
		{"list for a signer again", byCRL, signed, 4, 3},
		{"still kept", byOCSP, time.Time{}, 4, 3},
	} {
		if _, err := source.Revocation(t.Context(), step.signer.cert, w.root.cert, step.notBefore); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if ocsps.Load() != step.ocsp || crls.Load() != step.crls {
			t.Errorf("%s: %d OCSP requests, %d lists", step.name, ocsps.Load(), crls.Load())
		}
	}
}

// A signer's answer does not serve later questions either.
func TestSignersAnswerIsNotKept(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int32
	w.mux.Handle("/ocsp/", counted(&asked, responder{delegate(t, w.root, forOCSP()), nil}))
	source := &online.Revocation{Client: local()}
	signer := w.signer(t, []string{"/ocsp"}, nil)
	for _, notBefore := range []time.Time{time.Now().Add(-time.Second), {}} {
		if _, err := source.Revocation(t.Context(), signer.cert, w.root.cert, notBefore); err != nil {
			t.Fatal(err)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("%d requests", asked.Load())
	}
}

// Neither failures nor what may be newer next time are kept: revoked, and without
// nextUpdate.
func TestWhatMayChangeIsNotKept(t *testing.T) {
	for name, change := range map[string]func(*ocsp.Single){
		"revoked":            func(s *ocsp.Single) { s.Status, s.RevokedAt = ocsp.Revoked, revokedAt },
		"unknown":            func(s *ocsp.Single) { s.Status = ocsp.Unknown },
		"without nextUpdate": func(s *ocsp.Single) { s.NextUpdate = time.Time{} },
	} {
		w := newWorld(t)
		var asked atomic.Int32
		w.mux.Handle("/ocsp/", counted(&asked, responder{delegate(t, w.root, forOCSP()), single(change)}))
		source := &online.Revocation{Client: local()}
		signer := w.signer(t, []string{"/ocsp"}, nil)
		for range 2 {
			source.Revocation(t.Context(), signer.cert, w.root.cert, time.Time{})
		}
		if asked.Load() != 2 {
			t.Errorf("%s: %d requests", name, asked.Load())
		}
	}
}

// Fifty who ask at once cause one request, and who goes away leaves the others their
// answer.
func TestRevocationIsCoalesced(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int32
	release := make(chan struct{})
	good := responder{delegate(t, w.root, forOCSP()), nil}
	w.mux.Handle("/ocsp/", counted(&asked, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		<-release
		good.ServeHTTP(rw, r)
	})))
	source := &online.Revocation{Client: local()}
	signer := w.signer(t, []string{"/ocsp"}, nil)
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			if _, err := source.Revocation(t.Context(), signer.cert, w.root.cert, time.Time{}); err != nil {
				t.Error(err)
			}
		})
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := source.Revocation(gone, signer.cert, w.root.cert, time.Time{}); !errors.Is(err, context.Canceled) || !errors.Is(err, ades.ErrNoRevocation) {
		t.Error(err)
	}
	close(release)
	wait.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// Who went away is not kept busy with further addresses.
func TestRevocationEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	gone, leave := context.WithCancel(t.Context())
	w.mux.HandleFunc("/ocsp/", func(_ http.ResponseWriter, r *http.Request) { leave(); <-r.Context().Done() })
	signer := w.signer(t, []string{"/ocsp"}, []string{"/crl"})
	_, err := (&online.Revocation{Client: local()}).Revocation(gone, signer.cert, w.root.cert, time.Time{})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "/ocsp") || strings.Contains(err.Error(), "/crl") {
		t.Error(err)
	}
}
