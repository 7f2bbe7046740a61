package portal

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// MaxPage is how many processes a page may have, and DefaultPage how many it has if the client does not ask for a number
// (spec 4.8).
const (
	MaxPage     = 200
	DefaultPage = 50
)

// Query selects a page of the list of an account's processes.
type Query struct {
	Status       Status    // empty: any
	CreatedAfter time.Time // processes that were created later; zero: all
	After        string    // [Page.Next] of the page before; empty: the first page
	Limit        int       // 1 to MaxPage
}

// Page is a part of a list of processes, in the order of their creation.
type Page struct {
	Processes []ProcessView
	Next      string // [Query.After] of the page after this one; empty: this is the last one
}

// List returns a page of the processes of an account that were created with the API, as they are now. A process that is
// created or deleted between two pages moves no other process from one page to another. The faults of the
// [*InvalidError] have the names of spec 4.8.
func (s *Service) List(ctx context.Context, account string, q Query) (Page, error) {
	after, err := q.position()
	if err != nil {
		return Page{}, err
	}
	at := s.now(ctx)
	list, err := ListAt(ctx, s.store, at, Listing{Account: account, Origin: API, Status: q.Status}, after, q.Limit+1)
	if err != nil {
		return Page{}, fmt.Errorf("portal: listing processes: %w", err)
	}
	var page Page
	if len(list) > q.Limit {
		list = list[:q.Limit]
		page.Next = list[q.Limit-1].position().cursor()
	}
	for _, p := range list {
		page.Processes = append(page.Processes, p.view(at))
	}
	return page, nil
}

// Check checks the query. The error is an [*InvalidError].
func (q Query) Check() error {
	_, err := q.position()
	return err
}

// position returns the position that the page comes after. [*InvalidError].
func (q Query) position() (Position, error) {
	var f faults
	if !slices.Contains([]Status{"", Waiting, Completed, Declined, Expired}, q.Status) {
		f.add("status", "Must be one of Waiting, Completed, Declined, Expired.")
	}
	if q.Limit < 1 || q.Limit > MaxPage {
		f.add("limit", fmt.Sprintf("Must be a whole number from 1 to %d.", MaxPage))
	}
	var after Position
	if !q.CreatedAfter.IsZero() { // times of processes are whole microseconds
		after.CreatedAt = q.CreatedAfter.Truncate(time.Microsecond).Add(time.Microsecond)
	}
	if q.After != "" {
		last, ok := parseCursor(q.After)
		if !ok {
			f.add("after", "Must be the member next of an earlier page.")
		}
		if after.compare(last) < 0 {
			after = last
		}
	}
	if f != nil {
		return Position{}, &InvalidError{f}
	}
	return after, nil
}

// ListAt returns up to limit processes of a store that come after a position, in the order of their creation. The status
// of the listing is that at the time given, whether the end of an expired process was stored or not.
func ListAt(ctx context.Context, store ProcessStore, at time.Time, of Listing, after Position, limit int) ([]Process, error) {
	switch of.Status {
	case Waiting:
		return waitingAt(ctx, store, at, of, after, limit)
	case Expired:
		return expiredAt(ctx, store, at, of, after, limit)
	}
	return store.ListProcesses(ctx, of, after, limit)
}

// waitingAt leaves out the processes that have expired since the last sweep.
func waitingAt(ctx context.Context, store ProcessStore, at time.Time, of Listing, after Position, limit int) (list []Process, err error) {
	for {
		some, err := store.ListProcesses(ctx, of, after, limit)
		if err != nil {
			return nil, err
		}
		for _, p := range some {
			if p.Status(at) == Waiting {
				list = append(list, p)
			}
		}
		if len(some) < limit || len(list) >= limit {
			return list[:min(len(list), limit)], nil
		}
		after = some[len(some)-1].position()
	}
}

// expiredAt adds those that have expired since the last sweep. It reads the account's first: a sweep that comes in between
// then has a process in both lists and not in none.
func expiredAt(ctx context.Context, store ProcessStore, at time.Time, of Listing, after Position, limit int) (list []Process, err error) {
	order := func(a, b Process) int { return a.position().compare(b.position()) }
	first := func(all []Process) []Process {
		slices.SortStableFunc(all, order)
		all = slices.CompactFunc(all, func(a, b Process) bool { return a.ID == b.ID })
		return all[:min(len(all), limit)]
	}
	for p, err := range store.Overdue(ctx, of.Account, at) {
		if err != nil {
			return nil, err
		}
		if p.Origin == of.Origin && p.position().compare(after) > 0 {
			list = append(list, p)
		}
		if len(list) > 2*limit {
			list = first(list)
		}
	}
	noted, err := store.ListProcesses(ctx, of, after, limit)
	return first(append(noted, list...)), err
}

func (p *Process) position() Position { return Position{p.CreatedAt, p.ID} }

// compare compares positions in the order of creation.
func (p Position) compare(q Position) int {
	return cmp.Or(p.CreatedAt.Compare(q.CreatedAt), cmp.Compare(p.ID, q.ID))
}

const (
	cursorVersion = 1
	maxCursorID   = 100 // bytes
)

// cursor encodes the position for clients.
func (p Position) cursor() string {
	encoded := binary.BigEndian.AppendUint64([]byte{cursorVersion}, uint64(p.CreatedAt.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(encoded, p.ID...))
}

// parseCursor decodes a cursor, and reports whether it is one.
func parseCursor(text string) (Position, bool) {
	encoded, err := base64.RawURLEncoding.Strict().DecodeString(text[:min(len(text), 2*maxCursorID)])
	if err != nil || len(encoded) < 10 || len(encoded) > 9+maxCursorID || encoded[0] != cursorVersion {
		return Position{}, false
	}
	p := Position{CreatedAt: time.UnixMicro(int64(binary.BigEndian.Uint64(encoded[1:]))).UTC(), ID: string(encoded[9:])}
	year := p.CreatedAt.Year()
	return p, year >= 0 && year <= 9999 && utf8.ValidString(p.ID) && !slices.Contains(encoded[9:], 0)
}
