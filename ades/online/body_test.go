package online

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// trickle sends bodies whose part beyond a small answer takes a second.
type trickle struct{ now, most atomic.Int32 }

func (s *trickle) RoundTrip(r *http.Request) (*http.Response, error) {
	small := io.LimitReader(zeros{}, smallLimit)
	if r.URL.Path == "/small" {
		return &http.Response{StatusCode: 200, ContentLength: smallLimit, Body: io.NopCloser(small)}, nil
	}
	late := &lateReader{trickle: s, rest: io.LimitReader(zeros{}, smallLimit)}
	return &http.Response{StatusCode: 200, ContentLength: 2*smallLimit + 1, Body: io.NopCloser(io.MultiReader(small, io.LimitReader(zeros{}, 1), late))}, nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

type lateReader struct {
	*trickle
	begun bool
	rest  io.Reader
}

func (l *lateReader) Read(p []byte) (int, error) {
	if !l.begun {
		l.begun = true
		now := l.now.Add(1)
		for most := l.most.Load(); now > most && !l.most.CompareAndSwap(most, now); most = l.most.Load() {
		}
		time.Sleep(time.Second)
		l.now.Add(-1)
	}
	return l.rest.Read(p)
}

// Two large answers are in memory at a time; small ones wait for nobody.
func TestLargeAnswersTakeTurns(t *testing.T) {
	for name, test := range map[string]struct {
		path    string
		timeout time.Duration
		took    time.Duration // all six of them
		most    int32
		failed  int32
	}{
		"large":                 {path: "/large", timeout: time.Minute, took: 3 * time.Second, most: 2},
		"small":                 {path: "/small", timeout: time.Minute},
		"the time for it is up": {path: "/large", timeout: 1500 * time.Millisecond, took: 2 * time.Second, most: 2, failed: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, turns, began := new(trickle), new(semaphore), time.Now()
				var failed atomic.Int32
				var all sync.WaitGroup
				for range 6 {
					all.Go(func() {
						e := exchange{url: "http://host" + test.path, limit: 4 * smallLimit, timeout: test.timeout, large: turns}
						_, err := e.do(context.Background(), &http.Client{Transport: server})
						if err == nil {
							return
						}
						failed.Add(1)
						if !errors.Is(err, ades.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if took := time.Since(began); took != test.took || server.most.Load() != test.most || failed.Load() != test.failed {
					t.Errorf("%v, %d at once, %d failed", took, server.most.Load(), failed.Load())
				}
			})
		})
	}
}
