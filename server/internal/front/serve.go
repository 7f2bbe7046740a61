package front

import (
	"context"
	"crypto/tls"
	"errors"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/innsigli/innsigli/internal/admission"
)

// StopTime is how long requests may take to finish when the server stops.
const StopTime = 20 * time.Second

// Serve answers on a listener, by TLS unless secure is nil, until the context ends; then it lets requests finish.
func Serve(ctx context.Context, listener net.Listener, secure *tls.Config, handler http.Handler, log *slog.Logger) error {
	h := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       5 * time.Minute,
		WriteTimeout:      5 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		HTTP2: &http.HTTP2Config{ // so that a connection holds no more memory than many of HTTP/1.1 would
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
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopTime)
		defer cancel()
		err := h.Shutdown(limited)
		if errors.Is(err, context.DeadlineExceeded) {
			log.Warn("shutdown limit reached: remaining requests were cut off", "limit", StopTime)
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

// Connections bounds the connections of a listener, of all clients together and of each address. Proxies connect for
// others, also one on this machine that is not configured, and are not bounded.
func (p Proxies) Connections(listener net.Listener, most, perAddress int) net.Listener {
	bounds := admission.ConnectionLimit{Max: most, PerAddress: perAddress, Exempt: func(a netip.Addr) bool {
		return a.IsLoopback() || p.trusts(a)
	}}
	return bounds.Listener(listener)
}

// LoopbackOnly refuses requests that were sent to another name than one of this machine's own. A page of another site
// whose name leads here for a while could otherwise read along in a browser (DNS rebinding), and a proxy would let
// anybody in.
func LoopbackOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := (&url.URL{Host: r.Host}); !IsLoopback(to.Hostname()) {
			http.Error(w, "This server is for trials on its own machine.", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// IsLoopback reports whether a host, without a port, is this machine itself.
func IsLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// connectionLog is for what net/http logs of connections. Handshakes that come to nothing, and HTTP/2 that is
// none, are what port scans leave behind, and their addresses are personal data.
type connectionLog struct{ log *slog.Logger }

// addresses are those that net/http and the errors of package net have in their texts.
var addresses = regexp.MustCompile(`\[[0-9A-Fa-f:.]+(%[^\]]*)?\]:\d+|\d+\.\d+\.\d+\.\d+(:\d+)?`)

func (c connectionLog) Write(p []byte) (int, error) {
	text := addresses.ReplaceAllString(strings.TrimSpace(string(p)), "(address)")
	level := slog.LevelWarn
	if strings.HasPrefix(text, "http2: ") && !strings.HasPrefix(text, "http2: panic") {
		level = slog.LevelDebug
	}
	if why, ok := strings.CutPrefix(text, "http: TLS handshake error from (address): "); ok {
		c.log.Debug("TLS handshake failed", "error", why)
	} else {
		c.log.Log(context.Background(), level, text)
	}
	return len(p), nil
}
