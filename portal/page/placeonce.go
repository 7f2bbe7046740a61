package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// beginning is a record of what somebody is asked to do several times at once, as by a double click:
// the first one does it, and the others go where it led.
type beginning struct {
	To string `json:"to"` // empty: it is not known yet
}

const (
	beginTime  = 30 * time.Second       // by when the first one has done it, or its server has died
	resultTime = 5 * time.Second        // for how long its result is the others' too
	beginPause = 100 * time.Millisecond // between two looks at it
)

// beginKey names the next turn of a participant.
func beginKey(place *portal.ParticipantView) []byte {
	return recordKey("begin", fmt.Sprintf("%s/%s/%d", place.ID, place.Participant.ID, place.Turns+1))
}

// once does what has a key, if it may, unless it is just being done: then it waits for the result. What
// has failed is done again by the next one. may joins a transaction.
func (p *Page) once(ctx context.Context, key []byte, may func(context.Context) error, do func(context.Context) (to string, err error)) (string, error) {
	for {
		to, first, err := p.claim(ctx, key, may)
		switch {
		case err != nil, to != "":
			return to, err
		case first: // who hangs up leaves nothing half done: browsers do at the second click
			return p.first(context.WithoutCancel(ctx), key, do)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(beginPause):
		}
	}
}

// claim says where it led to, or else whether nobody is at it and it is the caller's to do.
func (p *Page) claim(ctx context.Context, key []byte, may func(context.Context) error) (to string, first bool, err error) {
	look := func(ctx context.Context) error {
		found, err := p.config.Store.Record(ctx, key)
		var b beginning
		switch {
		case errors.Is(err, storage.ErrNotFound), err == nil && !p.now(ctx).Before(found.Expires):
			first = true
			return nil
		case err == nil:
			err = json.Unmarshal(found.Value, &b)
		}
		to, first = b.To, false
		return err
	}
	if err := look(ctx); err != nil || !first {
		return to, false, err
	}
	err = storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		if err := look(ctx); err != nil || !first {
			return err
		}
		if err := may(ctx); err != nil {
			return err
		}
		return p.note(ctx, key, beginning{}, beginTime)
	})
	return to, first, err
}

// first does it and tells the others.
func (p *Page) first(ctx context.Context, key []byte, do func(context.Context) (string, error)) (string, error) {
	to, err := do(ctx)
	told := storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		if err != nil {
			return p.config.Store.DeleteRecord(ctx, key)
		}
		return p.note(ctx, key, beginning{to}, resultTime)
	})
	if err == nil && told != nil { // they find out when the record expires
		p.tell(ctx, told)
	}
	return to, err
}

func (p *Page) note(ctx context.Context, key []byte, b beginning, long time.Duration) error {
	value, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return p.config.Store.PutRecord(ctx, Record{Key: key, Value: value, Expires: p.now(ctx).Add(long)})
}
