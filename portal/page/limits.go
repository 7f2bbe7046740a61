package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// errTooOften: phones are not to ring all the time. It is what every tooOften is.
var errTooOften = errors.New("begun too often")

// tooOften says how long nothing may be begun.
type tooOften struct{ wait time.Duration }

func (e tooOften) Error() string        { return errTooOften.Error() }
func (e tooOften) Is(target error) bool { return target == errTooOften }

// limit is how often something may be begun.
type limit struct {
	kind   string
	most   int
	within time.Duration
}

var (
	ofPlace   = limit{"begun at", 3, 5 * time.Minute}
	ofPerson  = limit{"begun for", 5, 10 * time.Minute}
	ofBrowser = limit{"sent from", 20, 5 * time.Minute}
)

// count says whether something may be begun now, and counts it: a login or a signature, which make a
// phone ring. It is by place and by person, a kennitala or a phone number. It joins the transaction, so
// that what is counted is begun. errTooOften.
func (p *Page) count(ctx context.Context, place, person string) error {
	return p.config.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := p.countOne(ctx, ofPlace, place); err != nil {
			return err
		}
		return p.countOne(ctx, ofPerson, person)
	})
}

// countLogin is count for a login. Where no phone rings, but the browser is sent to the provider, there
// is a limit for what that takes from the store.
func (p *Page) countLogin(ctx context.Context, place *portal.Place, a *attempt) error {
	name := "login " + place.ID + "/" + place.Participant.ID
	if a.Way == Browser {
		return p.countOne(ctx, ofBrowser, name)
	}
	return p.count(ctx, name, "login "+string(a.Way)+" "+a.Hint)
}

func (p *Page) countOne(ctx context.Context, l limit, name string) error {
	key, now := recordKey(l.kind, name), now()
	record, err := p.config.Store.Record(ctx, key)
	var times []time.Time
	if err == nil {
		err = json.Unmarshal(record.Value, &times)
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("page: reading how often something was begun: %w", err)
	}
	times = slices.DeleteFunc(times, func(t time.Time) bool { return !t.Add(l.within).After(now) })
	if len(times) >= l.most {
		return tooOften{times[len(times)-l.most].Add(l.within).Sub(now)}
	}
	value, err := json.Marshal(append(times, now))
	if err == nil {
		err = p.config.Store.PutRecord(ctx, Record{Key: key, Value: value, Expires: now.Add(l.within)})
	}
	if err != nil {
		return fmt.Errorf("page: counting what is begun: %w", err)
	}
	return nil
}
