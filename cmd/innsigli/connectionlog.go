package main

import (
	"log/slog"
	"strings"
)

// connectionLog is for what net/http has to say of connections. Handshakes that come to nothing are what anybody
// who looks for open ports leaves behind, and their addresses are nobody's business.
type connectionLog struct{ log *slog.Logger }

func (c connectionLog) Write(p []byte) (int, error) {
	text := strings.TrimSpace(string(p))
	if from, ok := strings.CutPrefix(text, "http: TLS handshake error from "); ok {
		_, why, _ := strings.Cut(from, ": ")
		c.log.Debug("a TLS handshake failed", "error", why)
	} else {
		c.log.Warn(text)
	}
	return len(p), nil
}
