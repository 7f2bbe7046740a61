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

// A phone does not ring all the time, whoever has a link or several. The price is that who has a link can use up the
// logins of its place: with twenty phones that ring, or twenty numbers that nobody has.
var (
	ofPerson   = limit{"begun for", 5, 10 * time.Minute} // a kennitala or a phone number
	ofBoth     = limit{"begun at for", 3, 5 * time.Minute}
	ofPlace    = limit{"begun at", 10, 5 * time.Minute}
	inVain     = limit{"begun in vain at", 20, 24 * time.Hour} // what nobody has logged in with
	ofBrowsers = limit{"sent from", 100, 5 * time.Minute}      // no phone rings, but the store is filled
)

// counter counts what has the same name.
type counter struct {
	limit
	name string
}

// loginCounters are those of a login at the place with a path.
func loginCounters(place string, a *attempt) []counter {
	if a.Way == Browser {
		return []counter{{ofBrowsers, place}}
	}
	whom := loginName(a.Way, a.Hint)
	return []counter{{ofBoth, place + " " + whom}, {ofPlace, place}, {inVain, place}, {ofPerson, whom}}
}

func loginName(way Way, hint string) string { return "login " + string(way) + " " + hint }

// signCounters are those of a signature. A phone that rings by its number rings as it does for a login.
func signCounters(place *portal.ParticipantView, kennitala string, a portal.SignRequest) []counter {
	all := []counter{{ofBoth, "sign " + pathOf(place)}, {ofPerson, "sign " + kennitala}}
	if a.Phone != "" {
		all = append(all, counter{ofPerson, loginName(SIM, a.Phone)})
	}
	return all
}

// count says whether something may be begun at a time, and counts it. It joins the transaction, so that
// what is counted is begun. errTooOften.
func (p *Page) count(ctx context.Context, at time.Time, counters []counter) error {
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		for _, c := range counters {
			times, err := p.counted(ctx, c, at)
			if err != nil {
				return err
			}
			if len(times) >= c.most {
				return tooOften{times[len(times)-c.most].Add(c.within).Sub(at)}
			}
			if err := p.noteTimes(ctx, c, append(times, at), at); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeBack has what was begun at a time not count. It joins the transaction.
func (p *Page) takeBack(ctx context.Context, at time.Time, counters ...counter) error {
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		now := p.now(ctx)
		for _, c := range counters {
			times, err := p.counted(ctx, c, now)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(times, at.Equal); i >= 0 {
				if err := p.noteTimes(ctx, c, slices.Delete(times, i, i+1), now); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// takeBackSoon is takeBack for what has come to nothing, whether the store is there or not.
func (p *Page) takeBackSoon(ctx context.Context, at time.Time, counters []counter) {
	if err := p.takeBack(ctx, at, counters...); err != nil {
		p.tell(ctx, err)
	}
}

// counted is when what a counter counts was begun, as far as it still counts.
func (p *Page) counted(ctx context.Context, c counter, now time.Time) (times []time.Time, err error) {
	record, err := p.config.Store.Record(ctx, recordKey(c.kind, c.name))
	if err == nil {
		err = json.Unmarshal(record.Value, &times)
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, fmt.Errorf("page: reading how often something was begun: %w", err)
	}
	return slices.DeleteFunc(times, func(t time.Time) bool { return !t.Add(c.within).After(now) }), nil
}

func (p *Page) noteTimes(ctx context.Context, c counter, times []time.Time, now time.Time) error {
	value, err := json.Marshal(times)
	if err == nil {
		err = p.config.Store.PutRecord(ctx, Record{Key: recordKey(c.kind, c.name), Value: value, Expires: now.Add(c.within)})
	}
	if err != nil {
		return fmt.Errorf("page: counting what is begun: %w", err)
	}
	return nil
}
