package httpapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/internal/admission"
)

const jsonType = "application/json"

// checkJSONType refuses a body whose Content-Type is not JSON in UTF-8. A body without the header is read as JSON,
// and the header of an empty body does not count (spec 1.1).
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

// checkBody refuses a body that, by its headers, is not JSON or has more than limit bytes, before any of it is read
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

// limitBody makes reads of the body fail after limit bytes. It refuses the request at once if the Content-Length is larger
// (spec 1.6).
func limitBody(w http.ResponseWriter, r *http.Request, limit int64) error {
	if r.ContentLength > limit {
		return &tooLarge
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	return nil
}

// readLimited reads a JSON body of at most limit bytes.
func readLimited(w http.ResponseWriter, body io.ReadCloser, limit int64, o jsonbody.Options) (*jsonbody.Object, error) {
	return jsonbody.Read(bodyReader{http.MaxBytesReader(w, body, limit)}, o)
}

// bodyReader reads a request body. It marks errors of receiving the body with errIncompleteBody or errSlowBody: they
// are caused by the client or the network, not by the server.
type bodyReader struct{ io.Reader }

func (b bodyReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	var tooLong *http.MaxBytesError
	if err != nil && err != io.EOF && !errors.As(err, &tooLong) {
		cause := errIncompleteBody
		if errors.Is(err, os.ErrDeadlineExceeded) {
			cause = errSlowBody
		}
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return n, err
}

var (
	errIncompleteBody = errors.New("httpapi: the body ended early")
	errSlowBody       = errors.New("httpapi: the body came too slowly")
)

// idempotencyKey returns the Idempotency-Key header, which may be a structured-field string or bare (spec 1.8). It is
// empty if the request has none.
func idempotencyKey(r *http.Request) (string, error) {
	const name = "Idempotency-Key"
	values := r.Header.Values(name)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if unquoted, ok := strings.CutPrefix(key, `"`); ok {
		key, ok = strings.CutSuffix(unquoted, `"`)
		if !ok {
			key = ""
		}
	}
	printable := strings.IndexFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) < 0
	if len(values) > 1 || key == "" || len(key) > maxKey || !printable {
		return "", invalid(map[string][]string{name: {"Must be one key of 1 to 255 printable ASCII characters."}})
	}
	return key, nil
}

// upload receives a body with a document. It stores the document while the body arrives, and owns it until a service
// takes it. The caller must call close.
type upload struct {
	*api
	ctx      context.Context
	account  string
	document string    // the ID of the stored document that no service has taken
	hash     hash.Hash // of the body
	releases []func()  // of byte budgets
}

func (a *api) upload(ctx context.Context, caller account.Caller) *upload {
	return &upload{api: a, ctx: ctx, account: caller.AccountID, hash: sha256.New()}
}

// read reads the body and stores its document, once the byte budgets allow it.
func (u *upload) read(w http.ResponseWriter, r *http.Request, o jsonbody.Options) (*jsonbody.Object, error) {
	if err := checkBody(r, u.MaxBody); err != nil {
		return nil, err
	}
	length := r.ContentLength
	if length < 0 {
		length = u.MaxBody
	}
	if err := u.acquire(w, u.requests, length); err != nil {
		return nil, err
	}
	o.Sink, o.Limit = u.store, min(cmp.Or(o.Limit, maxFieldBytes), maxFieldBytes)
	o.Reserve = func() error { return u.acquire(w, u.bodies, 2*min(length, o.Limit)) }
	return readLimited(w, teeBody{r.Body, u.hash}, u.MaxBody, o)
}

func (u *upload) acquire(w http.ResponseWriter, budget *admission.ByteBudget, n int64) error {
	release, err := acquire(u.ctx, w, budget, u.account, n)
	if err == nil {
		u.releases = append(u.releases, release)
	}
	return err
}

// store stores the decoded document. Invalid Base64 is not an error here: jsonbody reports it as a fault of the
// field, together with other faults.
func (u *upload) store(content io.Reader) error {
	var err error
	u.document, err = u.Signing.Upload(u.ctx, content, u.MaxBody)
	if errors.Is(err, jsonbody.ErrBase64) {
		return nil
	}
	return err
}

// fingerprint returns the hash by which a repeated body is recognized (spec 1.8).
func (u *upload) fingerprint() string { return hex.EncodeToString(u.hash.Sum(nil)) }

// take returns the document. The service that gets it stores or discards it.
func (u *upload) take() (document string) {
	document, u.document = u.document, ""
	return document
}

// close releases the byte budgets, and discards the document unless it was taken.
func (u *upload) close() {
	for _, release := range u.releases {
		release()
	}
	if u.document == "" {
		return
	}
	if err := u.Signing.Discard(u.ctx, u.document); err != nil && u.Failed != nil {
		u.Failed(u.ctx, err)
	}
}

// teeBody writes what is read of a body to w, which hashes it.
type teeBody struct {
	io.ReadCloser
	w io.Writer
}

func (t teeBody) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.w.Write(p[:n])
	return n, err
}
