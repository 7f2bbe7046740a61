package main

import (
	"context"
	"log/slog"

	"github.com/innsigli/innsigli/signing"
)

// steps writes the steps of requests to a log, in which a request is found by its pollingId.
// Those that come with each poll are for who looks for a fault (debug).
func steps(log *slog.Logger, ordinary slog.Level, measured *workMetrics) func(context.Context, signing.Step) {
	return func(ctx context.Context, s signing.Step) {
		measured.step(s)
		level, attributes := ordinary, []slog.Attr{slog.String("pollingId", s.Request), slog.String("step", s.Name)}
		if s.Code != "" {
			attributes = append(attributes, slog.String("errorCode", string(s.Code)))
		}
		if s.Note != "" {
			level, attributes = slog.LevelDebug, append(attributes, slog.String("call", s.Note))
		}
		if s.Err != nil {
			level, attributes = slog.LevelWarn, append(attributes, slog.Any("error", s.Err))
		}
		log.LogAttrs(ctx, level, "signing request", attributes...)
	}
}
