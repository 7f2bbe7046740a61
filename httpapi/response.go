package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/storage"
)

// timestamp formats a time as all answers do (spec 1.5).
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// nullable returns nil, which is null in JSON, for the empty string.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// writeJSON answers with a value in JSON. It does not change a Content-Type that is set.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", jsonType)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, err = clientWriter{w}.Write(b)
	return err
}

func writeText(w http.ResponseWriter, kind, text string) error {
	return writeBytes(w, kind, []byte(text))
}

// writeBytes answers with content of a media type.
func writeBytes(w http.ResponseWriter, kind string, content []byte) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, err := clientWriter{w}.Write(content)
	return err
}

// errClientGone marks an error of writing to the client: the client closed the connection. It is not the server's
// fault, and no answer can be sent.
var errClientGone = errors.New("httpapi: the client went away")

// clientWriter marks errors of writing to the client with errClientGone, which distinguishes them from errors of
// reading what is written.
type clientWriter struct{ w io.Writer }

func (c clientWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", errClientGone, err)
	}
	return n, err
}

// flush sends buffered bytes, so that an answer counts as written only when all of it was sent. If err is not nil,
// flush returns it and does nothing.
func flush(w http.ResponseWriter, err error) error {
	if err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return fmt.Errorf("%w: %w", errClientGone, err)
	}
	return nil
}

const documentSuffix = `"}`

// writeDocument streams a JSON object whose last member is a document. prefix is the object up to the Base64. The
// Content-Length lets a client notice that an answer was cut off. writeDocument calls last before it writes the last
// bytes, unless the client closed the connection before.
func writeDocument(ctx context.Context, w http.ResponseWriter, prefix string, document storage.Blob, last func() error) error {
	size := document.Size()
	writeDocumentHeader(w, prefix, size)
	if err := jsonbody.WriteBase64(clientWriter{w}, prefix, document, size, ""); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errClientGone
	}
	if err := last(); err != nil {
		return err
	}
	_, err := io.WriteString(clientWriter{w}, documentSuffix)
	return flush(w, err)
}

// writeDocumentHeader writes the header of an answer with a document of a size. It is the whole answer to HEAD.
func writeDocumentHeader(w http.ResponseWriter, prefix string, size int64) {
	length := int64(len(prefix)+len(documentSuffix)) + jsonbody.Base64Len(size)
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	w.WriteHeader(http.StatusOK)
}

// reportAbort reports an error about which the client can get no answer. It returns the value to panic with, so that the
// connection is closed: the client notices that the answer is incomplete, if its status was already sent.
func (a *api) reportAbort(ctx context.Context, err error) error {
	if a.Failed != nil && !errors.Is(err, errClientGone) {
		a.Failed(ctx, err)
	}
	return http.ErrAbortHandler
}

// drainLimit is how many bytes of a body that is too large the server reads before it answers. A client that sends
// its whole request before it reads would not get the answer otherwise.
const drainLimit = 1 << 20

func drain(body io.Reader) { _, _ = io.CopyN(io.Discard, body, drainLimit) }

// prepareEarlyAnswer prepares for an answer before the whole body was received, and reports whether discardBody must
// follow it. A client that sends its whole request before it reads would not get the answer over HTTP/1, because the
// server would reset the connection. HTTP/2 does not have the problem, and would not end the answer before the handler
// returns.
func prepareEarlyAnswer(w http.ResponseWriter, r *http.Request) bool {
	return r.ProtoMajor == 1 && r.ContentLength != 0 && http.NewResponseController(w).EnableFullDuplex() == nil
}

// discardBody sends an early answer, then receives and discards the rest of the body.
func (a *api) discardBody(w http.ResponseWriter, r *http.Request) {
	if flush(w, nil) == nil {
		_, _ = io.CopyN(io.Discard, r.Body, a.MaxBody)
	}
}
