package page

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/storage"
)

// sentBefore finds the visit that was begun when a form was just sent, as by the first of two clicks, and
// its cookie. The visit is empty when there is none, or not any more.
func (p *Page) sentBefore(ctx context.Context, form string) (v visit, cookie string, err error) {
	record, err := p.config.Store.Record(ctx, recordKey("form", form))
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && !p.now(ctx).Before(record.Expires):
		return visit{}, "", nil
	case err != nil:
		return visit{}, "", fmt.Errorf("page: reading what a form has begun: %w", err)
	}
	cookie = cookieFrom(record.Value, form)
	v, err = p.load(ctx, visitKey(cookie))
	if errors.Is(err, errNobody) {
		err = nil
	}
	return v, cookie, err
}

// sentNow draws the cookie of the visit that a form begins. What the form is named by stands in the page,
// so the cookie is another. It joins the transaction.
func (p *Page) sentNow(ctx context.Context, form string) (cookie string, err error) {
	seed := newSeed()
	err = p.config.Store.PutRecord(ctx, Record{Key: recordKey("form", form), Value: seed, Expires: p.now(ctx).Add(formTime)})
	if err != nil {
		return "", fmt.Errorf("page: storing what a form begins: %w", err)
	}
	return cookieFrom(seed, form), nil
}
