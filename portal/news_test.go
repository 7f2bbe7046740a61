package portal_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// news are the events and mails of the transactions that were committed.
type news struct {
	storage.Transactor
	mu     sync.Mutex
	events []event
	mails  []letter
	broken error // what events and mails are answered with
	lost   int   // the so-many-th transaction from now is committed without a word
}

// event is one that was sent.
type event struct {
	Account, Type string
	At            time.Time
	Body          string // JSON
}

// letter is a mail that is to be sent.
type letter struct {
	Kind, Process, To, Path string
}

// said is what a transaction says.
type said struct {
	events    []event
	mails     []letter
	withdrawn []string
}

type saidKey struct{}

func (n *news) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if _, within := ctx.Value(saidKey{}).(*said); within {
		return n.Transactor.InTx(ctx, fn)
	}
	var s *said
	err := n.Transactor.InTx(ctx, func(ctx context.Context) error {
		s = new(said)
		return fn(context.WithValue(ctx, saidKey{}, s))
	})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost--; n.lost == 0 {
		err = storage.ErrUnavailable
	}
	n.mails = slices.DeleteFunc(n.mails, func(l letter) bool { return slices.Contains(s.withdrawn, l.Process) })
	n.events, n.mails = append(n.events, s.events...), append(n.mails, s.mails...)
	return err
}

func (n *news) Emit(ctx context.Context, account, eventType string, at time.Time, body any) error {
	s, ok := ctx.Value(saidKey{}).(*said)
	if !ok {
		return storage.ErrNoTx
	}
	encoded, err := json.Marshal(body)
	s.events = append(s.events, event{account, eventType, at, string(encoded)})
	return errors.Join(err, n.broken)
}

func (n *news) Invite(ctx context.Context, p portal.Process, to portal.Participant) error {
	return n.write(ctx, letter{"invitation", p.ID, to.Email, p.Path(to, time.Now())})
}

func (n *news) Completed(ctx context.Context, p portal.Process) error {
	return n.write(ctx, letter{"completion", p.ID, "", ""})
}

func (n *news) Declined(ctx context.Context, p portal.Process, by portal.Participant) error {
	return n.write(ctx, letter{"decline", p.ID, by.Email, ""})
}

func (n *news) write(ctx context.Context, l letter) error {
	s, ok := ctx.Value(saidKey{}).(*said)
	if !ok {
		return storage.ErrNoTx
	}
	s.mails = append(s.mails, l)
	return n.broken
}

// Withdraw drops the mails of earlier transactions, and of this one up to now.
func (n *news) Withdraw(ctx context.Context, process string) error {
	s, ok := ctx.Value(saidKey{}).(*said)
	if !ok {
		return storage.ErrNoTx
	}
	s.withdrawn = append(s.withdrawn, process)
	s.mails = slices.DeleteFunc(s.mails, func(l letter) bool { return l.Process == process })
	return n.broken
}

// types are those of the events that were sent.
func (n *news) types() (list []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.events {
		list = append(list, e.Type)
	}
	return list
}

// letters are the mails that were sent, withdrawn ones aside.
func (n *news) letters(kind string) (list []letter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.mails {
		if l.Kind == kind {
			list = append(list, l)
		}
	}
	return list
}
