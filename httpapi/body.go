package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
)

const jsonType = "application/json"

// checkJSONType refuses a body that says it is something else than JSON. One that
// says nothing is read as JSON, and none is nothing else (spec 1.1).
func checkJSONType(r *http.Request) error {
	header := r.Header.Get("Content-Type")
	if header == "" || r.ContentLength == 0 {
		return nil
	}
	kind, parameters, err := mime.ParseMediaType(header)
	charset, named := parameters["charset"]
	if err == nil && kind == jsonType && (!named || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return new(wrongType(jsonType + " in UTF-8"))
}

// readBody reads a JSON body without a document.
func readBody(w http.ResponseWriter, r *http.Request, o jsonbody.Options) (*jsonbody.Object, error) {
	if err := checkBody(r, maxSmallBody); err != nil {
		return nil, err
	}
	return readLimited(w, r.Body, maxSmallBody, o)
}

// checkBody refuses what is no JSON of at most limit bytes: at once when the client says so
// (spec 1.6).
func checkBody(r *http.Request, limit int64) error {
	if err := checkJSONType(r); err != nil {
		return err
	}
	if r.ContentLength > limit {
		return &tooLarge
	}
	return nil
}

// limitBody has the body of a request end with an error behind limit bytes. It refuses the request at once when the client says
// that there are more (spec 1.6).
func limitBody(w http.ResponseWriter, r *http.Request, limit int64) error {
	if r.ContentLength > limit {
		return &tooLarge
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	return nil
}

// readLimited reads a JSON body of at most limit bytes.
func readLimited(w http.ResponseWriter, body io.ReadCloser, limit int64, o jsonbody.Options) (*jsonbody.Object, error) {
	return jsonbody.Read(wholeBody{http.MaxBytesReader(w, body, limit)}, o)
}

// wholeBody marks errors of receiving a body: they are the sender's, or those of
// the way from it.
type wholeBody struct{ io.Reader }

func (b wholeBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	var tooLong *http.MaxBytesError
	if err != nil && err != io.EOF && !errors.As(err, &tooLong) {
		why := errBrokenOff
		if errors.Is(err, os.ErrDeadlineExceeded) {
			why = errTooSlow
		}
		err = fmt.Errorf("%w: %w", why, err)
	}
	return n, err
}

var (
	errBrokenOff = errors.New("httpapi: the body broke off")
	errTooSlow   = errors.New("httpapi: the body came too slowly")
)

// drainLimit is how much of a body that is too large is still read, so that a
// client which sends first and reads afterwards gets the answer.
const drainLimit = 1 << 20

func drain(body io.Reader) { _, _ = io.CopyN(io.Discard, body, drainLimit) }

// early prepares for an answer before the body has come whole. A client that sends first and reads afterwards
// would not get it: the connection would be reset under what it sends. HTTP/2 has no such trouble, and
// would not end the answer before the handler has.
func early(w http.ResponseWriter, r *http.Request) bool {
	return r.ProtoMajor == 1 && r.ContentLength != 0 && http.NewResponseController(w).EnableFullDuplex() == nil
}

// receive takes what is left of a body after such an answer, and throws it away.
func (a *api) receive(w http.ResponseWriter, r *http.Request) {
	if flushed(w, nil) == nil {
		_, _ = io.CopyN(io.Discard, r.Body, a.MaxBody)
	}
}

// writeJSON answers with a value. A Content-Type that was set stays.
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

// errGone marks the error of a write: the client is gone, which is no fault of the
// server, and there is nobody left to answer.
var errGone = errors.New("httpapi: the client went away")

// clientWriter tells errors of writing to the client from those of reading what is
// written.
type clientWriter struct{ w io.Writer }

func (c clientWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", errGone, err)
	}
	return n, err
}
