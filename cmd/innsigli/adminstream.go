package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// writeTime is how long the reader of a stream may take for a piece of it.
const writeTime = time.Minute

// stream is an answer whose length may be anything.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

// Write gives the reader a time for each piece, instead of one for the whole.
func (s *stream) Write(p []byte) (int, error) {
	s.begun = true
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return 0, err
	}
	return s.ResponseWriter.Write(p)
}

// streamed serves a call that answers with a stream. One that breaks off is to be seen as
// such, so it ends with the connection.
func streamed[A any](f func(ctx context.Context, argument A, w *stream) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var argument A
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&argument); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s := &stream{ResponseWriter: w, control: http.NewResponseController(w)}
		err := f(r.Context(), argument, s)
		switch {
		case err != nil && s.begun:
			panic(http.ErrAbortHandler)
		case err != nil:
			w.Header().Del("Content-Length")
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		}
	}
}

func (d direct) streamEvidence(ctx context.Context, request string, w *stream) error {
	_, err := printEntries(w, func(each func(storage.Entry) error) error { return d.Evidence(ctx, request, each) })
	return err
}

func (d direct) streamBackup(_ context.Context, _ nothing, w *stream) error {
	b, err := d.bolt().Backup()
	if err != nil {
		return err
	}
	defer b.Close()
	w.Header().Set("Content-Length", strconv.FormatInt(b.Size(), 10))
	_, err = b.WriteTo(w)
	return err
}

// serveHold holds the documents for as long as the connection lasts, which the caller
// closes, or the end of the server.
func (d direct) serveHold(until context.Context) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		documents, release, err := d.Hold(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		defer release()
		io.Copy(io.Discard, io.LimitReader(r.Body, 1<<10)) // the end of the connection is seen behind it
		control := http.NewResponseController(w)
		control.SetReadDeadline(time.Time{}) // which would be taken for that end
		control.SetWriteDeadline(time.Time{})
		if json.NewEncoder(w).Encode(documents) != nil || control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
		case <-until.Done():
		}
	}
}
