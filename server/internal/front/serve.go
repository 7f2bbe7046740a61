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

// StopTime is how long running requests may take when the server stops.
const StopTime = 20 * time.Second

// Serve answers requests on a listener until the context ends, with TLS unless tlsConfig is nil. Then it waits up to
// StopTime for running requests.
func Serve(ctx context.Context, listener net.Listener, tlsConfig *tls.Config, handler http.Handler, log *slog.Logger) error {
	h := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       5 * time.Minute,
		WriteTimeout:      5 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		HTTP2: &http.HTTP2Config{ // bounds the memory of a connection
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
	if tlsConfig != nil {
		listener = tls.NewListener(listener, tlsConfig)
	}
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	return <-stopped
}

// Connections limits the connections of a listener, in total and for each address. Trusted proxies and this machine, which
// may run a proxy that is not configured, connect for many clients and have no limit.
func (p Proxies) Connections(listener net.Listener, total, perAddress int) net.Listener {
	limit := admission.ConnectionLimit{Max: total, PerAddress: perAddress, Exempt: func(a netip.Addr) bool {
		return a.IsLoopback() || p.trusts(a)
	}}
	return limit.Listener(listener)
}

// LoopbackOnly refuses requests whose Host is not a loopback name. Otherwise a page of another site whose name resolves to
// this machine could read responses in a browser (DNS rebinding), and a proxy would let other machines in.
func LoopbackOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := (&url.URL{Host: r.Host}); !IsLoopback(to.Hostname()) {
			http.Error(w, "This server is for trials on its own machine.", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// IsLoopback reports whether a host, without a port, is "localhost" or a loopback address.
func IsLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// connectionLog writes the log of net/http about connections to the log of the server. Failed handshakes and faulty HTTP/2,
// such as from port scans, have the level debug. Addresses are removed, since they are personal data.
type connectionLog struct{ log *slog.Logger }

// addresses matches the addresses in texts of net/http and package net.
var addresses = regexp.MustCompile(`\[[0-9A-Fa-f:.]+(%[^\]]*)?\]:\d+|\d+\.\d+\.\d+\.\d+(:\d+)?`)

func (c connectionLog) Write(p []byte) (int, error) {
	text := addresses.ReplaceAllString(strings.TrimSpace(string(p)), "(address)")
	level := slog.LevelWarn
	if strings.HasPrefix(text, "http2: ") && !strings.HasPrefix(text, "http2: panic") {
		level = slog.LevelDebug
	}
	if reason, ok := strings.CutPrefix(text, "http: TLS handshake error from (address): "); ok {
		c.log.Debug("TLS handshake failed", "error", reason)
	} else {
		c.log.Log(context.Background(), level, text)
	}
	return len(p), nil
}
