package main

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
)

// connectionLog is for what net/http has to say of connections. Handshakes that come to nothing, and HTTP/2 that is
// none, are what anybody who looks for open ports leaves behind, and their addresses are nobody's business.
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
		c.log.Debug("a TLS handshake failed", "error", why)
	} else {
		c.log.Log(context.Background(), level, text)
	}
	return len(p), nil
}
