package sealed

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/innsigli/innsigli/portal"
)

const linkToken kind = "link of a process"

// Processes is a store in which the tokens of links are sealed. A token that does not open keeps nobody
// from the process: its link comes without it, and when the process is stored the token stays as it is,
// until another link takes its place or it is used up.
func Processes(store portal.Store, keys *Keys) portal.Store { return processes{store, keys} }

// processes embeds no store either.
type processes struct {
	store portal.Store
	keys  *Keys
}

var _ portal.Store = processes{}

func (s processes) CreateProcess(ctx context.Context, p portal.Process) error {
	return s.store.CreateProcess(ctx, s.sealed(p))
}

func (s processes) UpdateProcess(ctx context.Context, p portal.Process) error {
	p = s.sealed(p)
	if slices.ContainsFunc(p.Participants, withoutToken) {
		was, err := s.store.Process(ctx, p.ID)
		if err != nil {
			return err
		}
		leaveTokens(p, was)
	}
	return s.store.UpdateProcess(ctx, p)
}

func (s processes) DeleteProcess(ctx context.Context, id string) error {
	return s.store.DeleteProcess(ctx, id)
}

func (s processes) Process(ctx context.Context, id string) (portal.Process, error) {
	return s.opened(s.store.Process(ctx, id))
}

func (s processes) ProcessByLink(ctx context.Context, hash []byte) (portal.Process, error) {
	return s.opened(s.store.ProcessByLink(ctx, hash))
}

func (s processes) Waiting(ctx context.Context, account string, after time.Time, limit int) ([]portal.Process, error) {
	list, err := s.store.Waiting(ctx, account, after, limit)
	return s.openAll(list), err
}

func (s processes) Unopened(ctx context.Context, until time.Time, limit int) ([]portal.Process, error) {
	list, err := s.store.Unopened(ctx, until, limit)
	return s.openAll(list), err
}

func (s processes) ListProcesses(ctx context.Context, of portal.Listing, after portal.Position, limit int) ([]portal.Process, error) {
	list, err := s.store.ListProcesses(ctx, of, after, limit)
	return s.openAll(list), err
}

func (s processes) Overdue(ctx context.Context, before time.Time) iter.Seq2[portal.Process, error] {
	return func(yield func(portal.Process, error) bool) {
		for p, err := range s.store.Overdue(ctx, before) {
			if !yield(s.opened(p, err)) {
				return
			}
		}
	}
}

func (s processes) Ended(ctx context.Context, before time.Time, limit int) ([]portal.Process, error) {
	list, err := s.store.Ended(ctx, before, limit)
	return s.openAll(list), err
}

func (s processes) CreateKey(ctx context.Context, k portal.Key) error {
	return s.store.CreateKey(ctx, k)
}

func (s processes) UpdateKey(ctx context.Context, k portal.Key) error {
	return s.store.UpdateKey(ctx, k)
}

func (s processes) Key(ctx context.Context, client, value string) (portal.Key, error) {
	return s.store.Key(ctx, client, value)
}

func (s processes) DeleteKey(ctx context.Context, client, value string) error {
	return s.store.DeleteKey(ctx, client, value)
}

func (s processes) DeleteKeys(ctx context.Context, until time.Time, limit int) (int, error) {
	return s.store.DeleteKeys(ctx, until, limit)
}

// sealed is a process as it is stored.
func (s processes) sealed(p portal.Process) portal.Process {
	return tokens(p, func(link string, token []byte) []byte { return s.keys.seal(linkToken, link, token) })
}

func (s processes) opened(p portal.Process, err error) (portal.Process, error) {
	if err != nil {
		return p, err
	}
	return s.open(p), nil
}

// open leaves out what does not open.
func (s processes) open(p portal.Process) portal.Process {
	return tokens(p, func(link string, token []byte) []byte {
		token, _ = s.keys.open(linkToken, link, token)
		return token
	})
}

func (s processes) openAll(list []portal.Process) []portal.Process {
	for i, p := range list {
		list[i] = s.open(p)
	}
	return list
}

// tokens is a process with other tokens in its links. The one given stays as it is.
func tokens(p portal.Process, of func(link string, token []byte) []byte) portal.Process {
	p.Participants = slices.Clone(p.Participants)
	for i := range p.Participants {
		one := &p.Participants[i]
		one.Link.Token = of(linkOf(p, *one), one.Link.Token)
	}
	return p
}

// linkOf names the link of a participant, in which alone its token is good.
func linkOf(p portal.Process, one portal.Participant) string { return p.ID + "/" + one.ID }

// withoutToken says whether a participant has a link whose token did not open.
func withoutToken(one portal.Participant) bool {
	return len(one.Link.Hash) > 0 && len(one.Link.Token) == 0
}

// leaveTokens puts the tokens that did not open back into the links that they were stored in.
func leaveTokens(p, was portal.Process) {
	for i := range p.Participants {
		one := &p.Participants[i]
		at := slices.IndexFunc(was.Participants, func(old portal.Participant) bool {
			return old.ID == one.ID && bytes.Equal(old.Link.Hash, one.Link.Hash)
		})
		if withoutToken(*one) && at >= 0 {
			one.Link.Token = was.Participants[at].Link.Token
		}
	}
}
