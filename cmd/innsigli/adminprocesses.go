package main

import (
	"context"
	"net/http"

	"github.com/innsigli/innsigli/storage"
)

// processCalls serves the calls of a [socketClient] that are about signing processes.
func processCalls(mux *http.ServeMux, o direct) {
	mux.HandleFunc("POST /process", answer(o.ShowProcess))
	mux.HandleFunc("POST /process-resend", answer(func(ctx context.Context, id string) (int, error) { return o.ResendProcess(ctx, "", id) }))
	mux.HandleFunc("POST /process-events", streamed(func(ctx context.Context, id string, w *stream) error {
		_, err := printEntries(w, func(each func(storage.Entry) error) error { return o.ProcessEvents(ctx, id, each) })
		return err
	}))
}

func (c socketClient) ShowProcess(ctx context.Context, id string) (shownProcess, error) {
	return call[shownProcess](ctx, c, "process", id)
}

// ResendProcess leaves the file alone: the server has read its own.
func (c socketClient) ResendProcess(ctx context.Context, _, id string) (int, error) {
	return call[int](ctx, c, "process-resend", id)
}

func (c socketClient) ProcessEvents(ctx context.Context, id string, each func(storage.Entry) error) error {
	return c.entries(ctx, "process-events", id, each)
}
