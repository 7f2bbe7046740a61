package httpapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/internal/admission"
)

// upload is the document that comes in with a body, until somebody takes it.
type upload struct {
	*api
	ctx      context.Context
	account  string
	document string
	body     hash.Hash // of all that was read
	leave    []func()  // of rooms
}

func (a *api) upload(ctx context.Context, caller account.Caller) *upload {
	return &upload{api: a, ctx: ctx, account: caller.AccountID, body: sha256.New()}
}

// read reads a body and stores its content, once there is room for it.
func (u *upload) read(w http.ResponseWriter, r *http.Request, o jsonbody.Options) (*jsonbody.Object, error) {
	if err := checkBody(r, u.MaxBody); err != nil {
		return nil, err
	}
	length := r.ContentLength
	if length < 0 {
		length = u.MaxBody
	}
	if err := u.enter(w, u.in, length); err != nil {
		return nil, err
	}
	o.Sink, o.Limit = u.store, min(cmp.Or(o.Limit, maxHeld), maxHeld)
	o.Reserve = func() error { return u.enter(w, u.held, 2*min(length, o.Limit)) }
	return readLimited(w, teeBody{r.Body, u.body}, u.MaxBody, o)
}

func (u *upload) enter(w http.ResponseWriter, room *admission.ByteBudget, n int64) error {
	leave, err := enter(u.ctx, w, room, u.account, n)
	if err == nil {
		u.leave = append(u.leave, leave)
	}
	return err
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

// fingerprint is by what a body is known again (spec 1.8).
func (u *upload) fingerprint() string { return hex.EncodeToString(u.body.Sum(nil)) }

// take hands the document over: whoever gets it keeps or drops it.
func (u *upload) take() (document string) {
	document, u.document = u.document, ""
	return document
}

// drop gives the room back, and removes a document that nobody took.
func (u *upload) drop() {
	for _, leave := range u.leave {
		leave()
	}
	if u.document == "" {
		return
	}
	if err := u.Signing.Discard(u.ctx, u.document); err != nil && u.Failed != nil {
		u.Failed(u.ctx, err)
	}
}
