// Package promptlimit limits how often one person is asked on the phone, to sign or to log in. An attacker who has an API
// client or a link could otherwise make a phone ring until its owner gives in.
//
// A person is named by a kennitala or a phone number. The limits count prompts for that name by their source: the API
// clients of an account together, or one participant's link. With a limit of n prompts:
//
//   - The API clients of an account may cause n prompts, and a link n/2, so that no link uses up what its account has.
//   - All links and API clients of an account together may cause n prompts, and all accounts together 3n. Beyond that, a
//     source may still cause n/4: an attacker does not lock a person out of the links and accounts of others.
//   - An account never causes more than 3n prompts, however many links it makes. Only links of the person's own invitations
//     may go on, up to 4n, so that the holders of other links do not lock the person out.
//
// Fractions are rounded up. Prompts are counted for an hour, except those that the caller forgets: one that the person
// approved, or was not asked for after all. Another limit is on the prompts that the person has not answered yet.
//
// The counts are records in the store, which all servers of a deployment share. They are written in the caller's
// transaction. Their keys are keyed hashes, since a plain hash of a kennitala is quickly found by trying all of them.
package promptlimit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

// Kind is what a person is asked for. Each kind has its own counts.
type Kind string

// The kinds of prompts.
const (
	Sign  Kind = "sign"
	Login Kind = "login"
)

// Limits are the numbers n of the package comment. 0: no limit.
type Limits struct {
	Hourly  int // prompts in an hour
	Pending int // prompts that the person has not answered
}

// Limiter counts prompts of one kind. A nil Limiter has no limits.
type Limiter struct {
	store  storage.Records
	secret []byte
	kind   Kind
	limits Limits
}

// New returns a limiter, or nil if there are no limits. secret is the key of the hashes; all servers on one store need the
// same. The values of records name accounts, so that a store for production encrypts them.
func New(store storage.Records, secret []byte, kind Kind, limits Limits) *Limiter {
	if limits == (Limits{}) {
		return nil
	}
	return &Limiter{store, secret, kind, limits}
}

// Prompt is a request to a person.
type Prompt struct {
	ID      string    // is unique among the prompts for a person
	Persons []string  // names of the person: [Kennitala] and [Phone], in this order, in which they are locked; "" is none
	Account string    // on whose behalf the person is asked
	Link    string    // the participant whose page causes the prompt; empty: an API client does
	Invited bool      // the link is of an invitation that names the person
	Until   time.Time // when the prompt ends without an answer; zero: it does not count as pending
}

// window is how long a prompt is counted.
const window = time.Hour

// Count counts a prompt under all names of the person, or returns an [*idp.TooManyRequestsError] that says when a prompt
// of the same source may be possible. It joins the transaction of ctx, which the caller must roll back after an error.
// It locks records last: a transaction that also changes other objects does so before.
func (l *Limiter) Count(ctx context.Context, now time.Time, p Prompt) error {
	return l.update(ctx, now, p, func(r *record) error {
		if wait := r.wait(p, l.limits, now); wait > 0 {
			return &idp.TooManyRequestsError{RetryAfter: wait, Err: errLimit}
		}
		r.Prompts = append(r.Prompts, counted{ID: p.ID, Account: p.Account, Link: p.Link, At: now, Until: p.Until})
		return nil
	})
}

var errLimit = errors.New("promptlimit: the person was asked too often")

// Answered records that a prompt is not pending any more. It remains counted.
func (l *Limiter) Answered(ctx context.Context, now time.Time, p Prompt) error {
	return l.update(ctx, now, p, func(r *record) error {
		for i := range r.Prompts {
			if r.Prompts[i].ID == p.ID {
				r.Prompts[i].Until = time.Time{}
			}
		}
		return nil
	})
}

// Forget removes a prompt from the counts: the person approved it, or was not asked after all.
func (l *Limiter) Forget(ctx context.Context, now time.Time, p Prompt) error {
	return l.update(ctx, now, p, func(r *record) error {
		r.Prompts = slices.DeleteFunc(r.Prompts, func(c counted) bool { return c.ID == p.ID })
		return nil
	})
}

// mostDeferred is the longest time for which an account is kept from asking a person after a refusal of the provider.
const mostDeferred = 5 * time.Minute

// Defer forgets a prompt that the identity provider refused because of a limit of its own, and refuses further prompts
// of the account for the person during the time that the provider asked for, up to five minutes. Other accounts may ask
// the person: the limit may be that of the account's requests, or of the whole deployment.
func (l *Limiter) Defer(ctx context.Context, now time.Time, p Prompt, wait time.Duration) error {
	if err := l.Forget(ctx, now, p); err != nil {
		return err
	}
	return l.update(ctx, now, p, func(r *record) error {
		if until := now.Add(min(wait, mostDeferred)); until.After(r.Deferred[p.Account]) {
			if r.Deferred == nil {
				r.Deferred = make(map[string]time.Time)
			}
			r.Deferred[p.Account] = until
		}
		return nil
	})
}

// update changes the records of all names of the person in ctx's transaction.
func (l *Limiter) update(ctx context.Context, now time.Time, p Prompt, f func(*record) error) error {
	if l == nil {
		return nil
	}
	for i, person := range p.Persons {
		if person == "" || slices.Contains(p.Persons[:i], person) {
			continue
		}
		key := l.key(person)
		r, err := l.read(ctx, key, now)
		if err != nil {
			return err
		}
		if err := f(&r); err != nil {
			return err
		}
		if err := l.write(ctx, key, r, now); err != nil {
			return err
		}
	}
	return nil
}

// key returns the key of the record for a name of a person.
func (l *Limiter) key(person string) []byte {
	mac := hmac.New(sha256.New, l.secret)
	mac.Write([]byte("prompts " + string(l.kind) + " " + person))
	return mac.Sum(nil)
}

// record has the prompts for one name of a person.
type record struct {
	Version  int                  `json:"version"`
	Prompts  []counted            `json:"prompts,omitempty"`
	Deferred map[string]time.Time `json:"deferred,omitempty"` // until when an account causes no prompts, as the provider asked for
}

// recordVersion is the version of stored records. A record of another version counts as empty, since it is only an hour
// old at most.
const recordVersion = 1

// counted is a prompt that is counted.
type counted struct {
	ID      string    `json:"id"`
	Account string    `json:"account"`
	Link    string    `json:"link,omitempty"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until,omitzero"`
}

// expires returns when the prompt is counted no more.
func (c counted) expires() time.Time { return c.At.Add(window) }

// read returns the record with a key, without what has expired.
func (l *Limiter) read(ctx context.Context, key []byte, now time.Time) (r record, err error) {
	stored, err := l.store.Record(ctx, key)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return r, fmt.Errorf("promptlimit: reading the prompts for a person: %w", err)
	}
	if err == nil && (json.Unmarshal(stored.Value, &r) != nil || r.Version != recordVersion) {
		r = record{}
	}
	r.Prompts = slices.DeleteFunc(r.Prompts, func(c counted) bool { return !c.expires().After(now) && !c.Until.After(now) })
	maps.DeleteFunc(r.Deferred, func(_ string, until time.Time) bool { return !until.After(now) })
	return r, nil
}

// write stores a record until the last of it expires.
func (l *Limiter) write(ctx context.Context, key []byte, r record, now time.Time) error {
	expires := now
	for _, at := range slices.AppendSeq(r.times(), maps.Values(r.Deferred)) {
		if at.After(expires) {
			expires = at
		}
	}
	r.Version = recordVersion
	value, err := json.Marshal(r)
	if err == nil && !expires.After(now) {
		err = l.store.DeleteRecord(ctx, key)
	} else if err == nil {
		err = l.store.PutRecord(ctx, storage.Record{Key: key, Value: value, Expires: expires})
	}
	if err != nil {
		return fmt.Errorf("promptlimit: storing the prompts for a person: %w", err)
	}
	return nil
}

// times returns the times at which prompts stop being counted or pending.
func (r *record) times() (all []time.Time) {
	for _, c := range r.Prompts {
		all = append(all, c.expires(), c.Until)
	}
	return all
}

// wait returns how long the source of a prompt has to wait; 0: not at all.
func (r *record) wait(p Prompt, limits Limits, now time.Time) time.Duration {
	first := now
	if r.exceeds(p, limits, now) {
		later := slices.DeleteFunc(r.times(), func(t time.Time) bool { return !t.After(now) })
		slices.SortFunc(later, time.Time.Compare)
		// The counts only fall from here on, so that a binary search finds the first time.
		first = later[sort.Search(len(later)-1, func(i int) bool { return !r.exceeds(p, limits, later[i]) })]
	}
	if until := r.Deferred[p.Account]; until.After(first) {
		first = until
	}
	return first.Sub(now)
}

// exceeds reports whether a prompt at a time would exceed a limit.
func (r *record) exceeds(p Prompt, limits Limits, at time.Time) bool {
	var hourly, pending counts
	for _, c := range r.Prompts {
		if c.expires().After(at) {
			hourly.add(c, p)
		}
		if c.Until.After(at) {
			pending.add(c, p)
		}
	}
	return hourly.exceed(p, limits.Hourly) || pending.exceed(p, limits.Pending)
}

// counts are numbers of prompts.
type counts struct{ total, account, source int }

// add counts c, for a prompt p.
func (n *counts) add(c counted, p Prompt) {
	n.total++
	if c.Account == p.Account {
		n.account++
		if c.Link == p.Link {
			n.source++
		}
	}
}

// exceed reports whether p would exceed a limit (see the package comment).
func (n counts) exceed(p Prompt, limit int) bool {
	if limit == 0 {
		return false
	}
	most, share, everyone := limit, (limit+3)/4, 3*limit
	if p.Link != "" {
		most = (limit + 1) / 2
	}
	ofAccount := everyone
	if p.Invited {
		ofAccount += limit
	}
	switch {
	case n.source >= most, n.account >= ofAccount:
		return true
	case n.account >= limit, n.total >= everyone:
		return n.source >= share
	}
	return false
}

// Kennitala returns the name in [Prompt].Persons of a person with a kennitala.
func Kennitala(kennitala string) string { return "kennitala " + idp.NormalizeKennitala(kennitala) }

// Phone returns the name of a person with a phone number, which may be empty. It is the same for all spellings of an
// Icelandic number: only digits count, without the country code.
func Phone(number string) string {
	if number == "" {
		return ""
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
	if local := strings.TrimPrefix(strings.TrimPrefix(digits, "00"), "354"); len(local) == 7 {
		digits = local
	}
	return "phone " + digits
}
