package front

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
)

// Who tries a port is not in the log, at whatever level.
func TestConnectionLog(t *testing.T) {
	var out bytes.Buffer
	l := log.New(connectionLog{slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))}, "", 0)
	l.Print("http: TLS handshake error from 203.0.113.7:4711: EOF")
	l.Print("http: TLS handshake error from [2001:db8::7]:4711: tls: client offered only unsupported versions: []")
	l.Print("http: TLS handshake error from 203.0.113.7:4711: read tcp 192.0.2.1:443->203.0.113.7:4711: read: connection reset by peer")
	l.Printf("http: TLS handshake error from %s: read tcp %s->%[1]s: i/o timeout", "[fe80::7%eth0]:4711", "[fe80::1%eth0]:443")
	l.Print("http2: server: error reading preface from client 203.0.113.7:4711: bogus greeting")
	l.Print("http2: panic serving 203.0.113.7:4711: a fault")
	l.Print("http: Accept error: accept tcp 192.0.2.1:443: too many open files; retrying in 5ms")
	for _, want := range []string{"level=DEBUG msg=\"TLS handshake failed\" error=EOF", "error=\"tls: client offered only", "connection reset by peer", "level=DEBUG msg=\"http2: server: error reading preface",
		"level=WARN msg=\"http2: panic serving", "level=WARN msg=\"http: Accept error"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
	for _, address := range []string{"203.0.113.7", "2001:db8::7", "fe80::7", "192.0.2.1"} {
		if strings.Contains(out.String(), address) {
			t.Errorf("%s is in\n%s", address, &out)
		}
	}
}
