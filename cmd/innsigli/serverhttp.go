package main

import (
	"context"
	"crypto/tls"
	"errors"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// stopTime is how long requests may take to finish when the server stops.
const stopTime = 20 * time.Second

// serveHTTP answers on a listener, by TLS unless secure is nil, until the context ends.
func serveHTTP(ctx context.Context, listener net.Listener, secure *tls.Config, handler http.Handler, log *slog.Logger) error {
	h := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       5 * time.Minute,
		WriteTimeout:      5 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		HTTP2: &http.HTTP2Config{ // a connection is to hold no more than many of HTTP/1.1 would
			MaxConcurrentStreams:          100,
			MaxReceiveBufferPerConnection: 256 << 10,
			MaxReceiveBufferPerStream:     128 << 10,
			SendPingTimeout:               time.Minute,
			PingTimeout:                   15 * time.Second,
			WriteByteTimeout:              30 * time.Second,
		},
		ErrorLog: stdlog.New(connectionLog{log}, "", 0),
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		err := h.Shutdown(limited)
		if errors.Is(err, context.DeadlineExceeded) {
			log.Warn("requests were cut off: they took too long to finish", "limit", stopTime)
			err = h.Close()
		}
		stopped <- err
	})
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	return <-stopped
}
