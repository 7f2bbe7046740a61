package main

import (
	"io"
	"log/slog"
)

// logFlag says what a server's log has.
type logFlag struct {
	LogLevel slog.Level `name:"log-level" default:"info" placeholder:"LEVEL" help:"The least that is logged to stderr: debug, with every call to the identity provider, info, warn or error (default ${default})."`
}

func (f logFlag) log(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: f.LogLevel}))
}
