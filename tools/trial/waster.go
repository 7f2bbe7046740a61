package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// waster is a client that wastes time. It says so when it was treated otherwise than it deserves.
type waster struct {
	head, body string        // what it sends at once, and what it goes on with
	every      time.Duration // a byte of the body; 0: as fast as it can
	want       string        // what its answer begins with, if it is told anything
	again      bool          // it comes back when it is through

	fault string
	heard chan struct{} // closed once it was answered
	hear  func()
}

// at wastes time until the context ends, or the server has had enough.
func (w *waster) at(ctx context.Context, address string) {
	for w.once(ctx, address); w.again && w.fault == "" && ctx.Err() == nil; w.once(ctx, address) {
		pause(ctx, 500*time.Millisecond) // this machine makes what wastes the server's time as well
	}
}

func (w *waster) once(ctx context.Context, address string) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	answered := make(chan string, 1)
	go func() {
		var first bytes.Buffer
		if _, err := io.CopyN(&first, c, 12); err == nil { // HTTP/1.1 431
			w.hear()
		}
		answered <- first.String()
	}()
	if _, err := io.WriteString(c, w.head); err == nil {
		w.send(ctx, c)
	}
	if w.every > 0 || w.body == "" {
		<-ctx.Done()
	}
	select {
	case got := <-answered:
		if got != "" && !strings.HasSuffix(got, w.want) {
			w.fault = fmt.Sprintf("%.30q is answered %q, not %s", w.head, got, w.want)
		}
	case <-ctx.Done():
	}
}

// hears waits for an answer, however long that takes.
func (w *waster) hears(ctx context.Context) bool {
	select {
	case <-w.heard:
		return true
	case <-ctx.Done():
		return false
	}
}

func (w *waster) send(ctx context.Context, c net.Conn) {
	if w.every == 0 {
		io.WriteString(c, w.body)
		return
	}
	for i := 0; ctx.Err() == nil; i++ {
		if _, err := c.Write([]byte{w.body[i%len(w.body)]}); err != nil {
			return
		}
		pause(ctx, w.every)
	}
}
