package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"

	"github.com/innsigli/innsigli/internal/jsonbody"
)

// upload is the document that comes in with a body, until somebody takes it.
type upload struct {
	*api
	ctx      context.Context
	document string
	body     hash.Hash // of all that was read
}

func (a *api) upload(ctx context.Context) *upload {
	return &upload{api: a, ctx: ctx, body: sha256.New()}
}

// read reads a body and stores its content.
func (u *upload) read(w http.ResponseWriter, r *http.Request, o jsonbody.Options) (*jsonbody.Object, error) {
	o.Sink = u.store
	return readLimited(w, r, teeBody{r.Body, u.body}, u.MaxBody, o)
}

// store is where the decoded document goes. One that is no Base64 is a fault of
// its field, to be reported with the others.
func (u *upload) store(content io.Reader) error {
	var err error
	u.document, err = u.Signing.Upload(u.ctx, content, u.MaxBody)
	if errors.Is(err, jsonbody.ErrBase64) {
		return nil
	}
	return err
}

// fingerprint is by what a body is known again (decisions.md 2.11).
func (u *upload) fingerprint() string { return hex.EncodeToString(u.body.Sum(nil)) }

// take hands the document over: whoever gets it keeps or drops it.
func (u *upload) take() (document string) {
	document, u.document = u.document, ""
	return document
}

// drop removes a document that nobody took.
func (u *upload) drop() {
	if u.document == "" {
		return
	}
	if err := u.Signing.Discard(u.ctx, u.document); err != nil && u.Failed != nil {
		u.Failed(u.ctx, err)
	}
}
