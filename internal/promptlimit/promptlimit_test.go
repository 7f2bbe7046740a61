package promptlimit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

// records are a store in memory without transactions.
type records map[string]storage.Record

func (s records) PutRecord(_ context.Context, r storage.Record) error {
	s[string(r.Key)] = r
	return nil
}

func (s records) Record(_ context.Context, key []byte) (storage.Record, error) {
	r, ok := s[string(key)]
	if !ok {
		return r, storage.ErrNotFound
	}
	return r, nil
}

func (s records) DeleteRecord(_ context.Context, key []byte) error {
	delete(s, string(key))
	return nil
}

func (s records) DeleteRecords(context.Context, time.Time, int) (int, error) { return 0, nil }

const (
	hourly  = 20
	pending = 6
	annas   = "0101302989"
)

// phones are a Limiter with a clock.
type phones struct {
	*Limiter
	t     *testing.T
	store records
	now   time.Time
	rings int
}

func newPhones(t *testing.T) *phones {
	store := make(records)
	return &phones{New(store, []byte("secret"), Sign, Limits{Hourly: hourly, Pending: pending}), t, store, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), 0}
}

// prompt returns a prompt for Anna that is not pending.
func (p *phones) prompt(account, link string) Prompt {
	p.rings++
	return Prompt{ID: fmt.Sprint(p.rings), Persons: []string{Kennitala(annas)}, Account: account, Link: link}
}

// count counts a prompt, and returns how long to wait if it is refused.
func (p *phones) count(one Prompt) (wait time.Duration) {
	p.t.Helper()
	err := p.Count(p.t.Context(), p.now, one)
	var limit *idp.TooManyRequestsError
	if err != nil && !errors.As(err, &limit) {
		p.t.Fatal(err)
	}
	if limit != nil {
		return limit.RetryAfter
	}
	return 0
}

// allowed returns how many prompts of a source are allowed until one is refused, one a second.
func (p *phones) allowed(account, link string, invited bool) (n int) {
	p.t.Helper()
	one := func() Prompt {
		prompt := p.prompt(account, link)
		prompt.Invited = invited
		return prompt
	}
	for n < 1000 && p.count(one()) == 0 {
		n++
		p.now = p.now.Add(time.Second)
	}
	return n
}

// Each source has its share, whatever others have done before, and an account has a limit however many links it makes.
func TestShares(t *testing.T) {
	type source struct {
		account, link string
		want          int
	}
	for name, sources := range map[string][]source{
		"clients of accounts":        {{"a", "", 20}, {"b", "", 20}, {"c", "", 20}, {"d", "", 5}, {"e", "", 5}},
		"one link":                   {{"a", "link", 10}, {"a", "another", 10}, {"a", "third", 5}, {"a", "", 5}, {"b", "", 20}},
		"clients do not block links": {{"a", "", 20}, {"a", "link", 5}},
		"many links of an account": {
			{"a", "1", 10}, {"a", "2", 10}, {"a", "3", 5}, {"a", "4", 5}, {"a", "5", 5}, {"a", "6", 5}, {"a", "7", 5}, {"a", "8", 5}, {"a", "9", 5},
			{"a", "10", 5}, {"a", "11", 0}, {"a", "", 0}, {"b", "1", 5}, {"b", "", 5},
		},
		"links of different accounts": {{"a", "1", 10}, {"b", "1", 10}, {"c", "1", 10}, {"d", "1", 10}, {"e", "1", 10}, {"f", "1", 10}, {"g", "1", 5}, {"a", "own", 5}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPhones(t)
			for _, one := range sources {
				if got := p.allowed(one.account, one.link, false); got != one.want {
					t.Errorf("%s %q: %d prompts, want %d", one.account, one.link, got, one.want)
				}
			}
		})
	}
}

// When the links of others have used up all that an account may cause, the person still gets through the own links, up to
// another limit for all of them.
func TestInvited(t *testing.T) {
	p := newPhones(t)
	for i := range 10 {
		p.allowed("a", fmt.Sprint(i), false)
	}
	if got := p.allowed("a", "another", false); got != 0 {
		t.Errorf("another link of others: %d", got)
	}
	for i, want := range []int{5, 5, 5, 5, 0} {
		if got := p.allowed("a", fmt.Sprint("own ", i), true); got != want {
			t.Errorf("own link %d: %d prompts, want %d", i, got, want)
		}
	}
}

// A prompt is possible when the time is over that an earlier one was refused with, and not before. Records expire with the
// last of their content.
func TestWait(t *testing.T) {
	p := newPhones(t)
	began := p.now
	p.allowed("a", "", false)
	wait := p.count(p.prompt("a", ""))
	if want := began.Add(window).Sub(p.now); wait != want {
		t.Errorf("%v, want %v", wait, want)
	}
	for _, r := range p.store {
		if want := p.now.Add(window - time.Second); !r.Expires.Equal(want) { // the last one was counted a second ago
			t.Errorf("the record expires at %v, want %v", r.Expires, want)
		}
	}
	p.now = p.now.Add(wait - 1)
	if p.count(p.prompt("a", "")) != 1 {
		t.Error("it is possible too early")
	}
	p.now = p.now.Add(1)
	if p.count(p.prompt("a", "")) != 0 {
		t.Error("it is not possible then")
	}
	p.now = p.now.Add(window)
	if got := p.allowed("a", "", false); got != hourly {
		t.Errorf("an hour later: %d", got)
	}
}

// Prompts without an answer are limited too, until they are answered or end.
func TestPending(t *testing.T) {
	p := newPhones(t)
	until := p.now.Add(5 * time.Minute)
	ring := func() (Prompt, time.Duration) {
		one := p.prompt("a", "")
		one.Until = until
		return one, p.count(one)
	}
	first, _ := ring()
	for range pending - 1 {
		if _, wait := ring(); wait != 0 {
			t.Fatal(wait)
		}
	}
	if _, wait := ring(); wait != 5*time.Minute {
		t.Error(wait)
	}
	if err := p.Answered(t.Context(), p.now, first); err != nil {
		t.Fatal(err)
	}
	if _, wait := ring(); wait != 0 {
		t.Error("after an answer:", wait)
	}
	if _, wait := ring(); wait == 0 {
		t.Error("two after one answer")
	}
	p.now = until
	if _, wait := ring(); wait != 0 {
		t.Error("after the end:", wait)
	}
}

// What the person approved does not count. A number is counted once, however it is written; it does not count for its
// kennitala, nor for another kind.
func TestNames(t *testing.T) {
	p := newPhones(t)
	for range 3 * hourly {
		one := p.prompt("a", "")
		if p.count(one) != 0 {
			t.Fatal("prompts that are forgotten count")
		}
		if err := p.Forget(t.Context(), p.now, one); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.store) > 0 {
		t.Error("an empty record is stored")
	}
	spellings := []string{"5550101", "555-0101", "+354 555 0101", "00354-5550101", "354 555.0101"}
	for i := range hourly {
		one := p.prompt("a", "")
		one.Persons = []string{Kennitala(fmt.Sprint(2000000000 + i)), Phone(spellings[i%len(spellings)])}
		if wait := p.count(one); wait != 0 {
			t.Fatal(i, wait)
		}
	}
	for _, spelling := range spellings {
		one := p.prompt("a", "")
		if one.Persons = []string{Phone(spelling)}; p.count(one) == 0 {
			t.Error(spelling)
		}
	}
	for _, other := range []string{Phone("5550102"), Phone(""), Kennitala("5550101"), Kennitala("010130-2989")} {
		one := p.prompt("a", "")
		if one.Persons = []string{other}; p.count(one) != 0 {
			t.Errorf("%q is refused", other)
		}
	}
	logins := New(p.store, []byte("secret"), Login, Limits{Hourly: hourly})
	one := p.prompt("a", "")
	one.Persons = []string{Phone(spellings[0])}
	if err := logins.Count(t.Context(), p.now, one); err != nil {
		t.Error(err)
	}
}

// After the provider's own limit no source of the account asks the person before the time that the provider named, up to
// five minutes. Other accounts are not affected.
func TestDefer(t *testing.T) {
	p := newPhones(t)
	for _, test := range []struct{ asked, want time.Duration }{{90 * time.Second, 90 * time.Second}, {20 * time.Hour, 5 * time.Minute}} {
		one := p.prompt("a", "")
		p.count(one)
		if err := p.Defer(t.Context(), p.now, one, test.asked); err != nil {
			t.Fatal(err)
		}
		if wait := p.count(p.prompt("a", "link")); wait != test.want {
			t.Errorf("%v, want %v", wait, test.want)
		}
		if wait := p.count(p.prompt("b", "")); wait != 0 {
			t.Errorf("another account waits %v", wait)
		}
		p.now = p.now.Add(test.want)
		if wait := p.count(p.prompt("a", "link")); wait != 0 {
			t.Errorf("and then %v", wait)
		}
	}
}

// Keys and values do not name the person.
func TestStoredRecords(t *testing.T) {
	p := newPhones(t)
	p.count(p.prompt("a", ""))
	for key, r := range p.store {
		if bytes.Contains([]byte(key), []byte(annas)) || bytes.Contains(r.Value, []byte(annas)) {
			t.Errorf("%x: %s", key, r.Value)
		}
	}
	other := New(make(records), []byte("another secret"), Sign, Limits{Hourly: 1})
	if slices.Contains(slices.Collect(maps.Keys(p.store)), string(other.key(Kennitala(annas)))) {
		t.Error("the key does not depend on the secret")
	}
}

// Without a limiter nothing is counted.
func TestNoLimits(t *testing.T) {
	l := New(nil, nil, Sign, Limits{})
	for _, f := range []func(context.Context, time.Time, Prompt) error{l.Count, l.Answered, l.Forget} {
		if err := f(t.Context(), time.Now(), Prompt{Persons: []string{"a"}}); err != nil || l != nil {
			t.Error(err)
		}
	}
	if err := l.Defer(t.Context(), time.Now(), Prompt{}, time.Hour); err != nil {
		t.Error(err)
	}
}
