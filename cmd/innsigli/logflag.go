package main

import (
	"io"
	"log/slog"
	"os"
)

// logFlag says what a server's log has.
type logFlag struct {
	LogLevel  slog.Level `name:"log-level" default:"info" placeholder:"LEVEL" help:"The least that is logged to stderr: debug, with every call to the identity provider, info, warn or error (default ${default})."`
	LogFormat string     `name:"log-format" enum:"auto,json,text" default:"auto" placeholder:"FORMAT" help:"json, an object a line; text; or auto, which is text on a terminal and else json (default ${default})."`
}

func (f logFlag) log(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: f.LogLevel}
	if f.LogFormat == "text" || f.LogFormat == "auto" && isTerminal(w) {
		return slog.New(callLog{slog.NewTextHandler(w, o)})
	}
	return slog.New(callLog{slog.NewJSONHandler(w, o)})
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	stat, err := file.Stat()
	return err == nil && stat.Mode()&os.ModeCharDevice != 0
}
