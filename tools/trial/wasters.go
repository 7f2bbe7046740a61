package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// wasters are all sorts of them. Those with a token are of the client whose calls are timed, which makes it
// no better for these.
func (l slow) wasters(token string) (all []*waster) {
	post := func(path, more string, length int) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: trial\r\n%sContent-Length: %d\r\n\r\n", path, more, length)
	}
	const (
		start     = "/api/v1/signing"
		document  = 30 << 20
		get       = "GET /openapi.json HTTP/1.1\r\nHost: trial\r\n\r\n"
		hurriedly = 2
		uploads   = 10 // of 30 MiB, for which an account has room (httpapi.Limits)
	)
	bearer := "Authorization: Bearer " + token + "\r\n"
	times := func(n int, w waster) {
		for range n {
			one := new(w)
			one.heard = make(chan struct{})
			one.hear = sync.OnceFunc(func() { close(one.heard) })
			all = append(all, one)
		}
	}
	quarter := max(l.clients/4, 1)
	times(quarter, waster{head: "GET / HTTP/1.1\r\nHost: trial\r\nX-Slow: ", body: "x", every: time.Second})
	times(min(quarter, uploads), waster{head: post(start, bearer, document), body: ` `, every: time.Second})
	times(quarter-min(quarter, uploads), waster{head: post("/api/v1/signing/busy-signal", bearer, 1000), body: ` `, every: time.Second})
	times(quarter, waster{head: post("/api/v1/auth/token", "", 1000), body: ` `, every: time.Second})
	times(quarter, waster{head: strings.Repeat(get, 100), want: "200"}) // and takes nothing of the answers but the first bytes
	times(l.clients, waster{})                                          // half-open
	times(hurriedly, waster{head: "GET / HTTP/1.1\r\nHost: trial\r\n", body: strings.Repeat("X-Header: value\r\n", 100_000) + "\r\n", want: "431", again: true})
	times(hurriedly, waster{head: post(start, bearer, document), body: strings.Repeat(`{"a":`, document/5+1)[:document], want: "400", again: true})
	times(hurriedly, waster{head: post(start, bearer, document), body: strings.Repeat("garbage ", document/8), want: "400", again: true})
	return all
}
