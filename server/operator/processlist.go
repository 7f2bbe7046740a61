package operator

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server/internal/notify"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// ProcessFilter chooses signing processes. The zero value chooses all.
type ProcessFilter struct {
	Account       string        // empty: those of all accounts
	Status        portal.Status // empty: any
	CreatedAfter  time.Time     // zero: at any time
	CreatedBefore time.Time     // zero: at any time
}

// ListedProcess is a signing process in a list.
type ListedProcess struct {
	ID        string        `json:"id"`
	Account   string        `json:"account"`
	Origin    portal.Origin `json:"origin"`
	Status    portal.Status `json:"status"`
	CreatedAt time.Time     `json:"createdAt"`
	ExpiresAt time.Time     `json:"expiresAt,omitzero"` // also if that is past; zero: it is completed or declined
	EndedAt   time.Time     `json:"endedAt,omitzero"`   // zero: it waits
	Signers   int           `json:"signers"`
	Signed    int           `json:"signed"`
	Viewers   int           `json:"viewers"`
	FileName  string        `json:"fileName,omitempty"` // on one line, without control characters
}

// processPage is how many processes are in memory at once.
const processPage = 200

// Processes implements [Operator].
func (s *Service) Processes(ctx context.Context, filter ProcessFilter, each func(ListedProcess) error) error {
	accounts := []string{filter.Account}
	if filter.Account == "" {
		all, err := s.Accounts(ctx)
		if err != nil {
			return err
		}
		accounts = nil
		for _, a := range all {
			accounts = append(accounts, a.ID)
		}
	} else if _, err := s.Account(ctx, filter.Account); errors.Is(err, account.ErrNotFound) {
		return noAccount(filter.Account)
	} else if err != nil {
		return err
	}
	for _, id := range accounts {
		for _, origin := range origins {
			if err := s.processesOf(ctx, portal.Listing{Account: id, Origin: origin, Status: filter.Status}, filter, each); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) processesOf(ctx context.Context, of portal.Listing, filter ProcessFilter, each func(ListedProcess) error) error {
	after, at := portal.Position{}, now(ctx)
	if !filter.CreatedAfter.IsZero() {
		after.CreatedAt = filter.CreatedAfter.Truncate(time.Microsecond).Add(time.Microsecond)
	}
	for {
		page, err := portal.ListAt(ctx, s.store.Processes(), at, of, after, processPage)
		if err != nil {
			return err
		}
		for _, p := range page {
			if !filter.CreatedBefore.IsZero() && !p.CreatedAt.Before(filter.CreatedBefore) {
				return nil
			}
			if err := each(listed(p, at)); err != nil {
				return err
			}
		}
		if len(page) < processPage {
			return nil
		}
		last := page[len(page)-1]
		after = portal.Position{CreatedAt: last.CreatedAt, ID: last.ID}
	}
}

func listed(p portal.Process, at time.Time) ListedProcess {
	l := ListedProcess{
		ID: p.ID, Account: p.Account, Origin: p.Origin, Status: p.Status(at), CreatedAt: p.CreatedAt,
		ExpiresAt: p.WaitsUntil(), EndedAt: p.Ended(at), FileName: notify.Plain(p.FileName),
	}
	l.Signers, l.Signed, l.Viewers = p.Counts()
	return l
}

// DeleteProcess implements [Operator].
func (s *Service) DeleteProcess(ctx context.Context, id string) (ListedProcess, error) {
	p, err := s.store.Processes().Process(ctx, id)
	if err == nil {
		err = s.removing().Remove(ctx, id)
	}
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, portal.ErrNotFound) {
		return ListedProcess{}, noProcess(id)
	}
	return listed(p, now(ctx)), err
}

// removing returns the server's service of processes, or one that only removes them. Nothing that it stores is sealed.
func (s *Service) removing() *portal.Service {
	if s.options.Processes != nil {
		return s.options.Processes
	}
	processes, _ := s.removingBoth()
	return processes
}

// removingBoth returns services that remove processes and signing requests, and do nothing else.
func (s *Service) removingBoth() (*portal.Service, *signing.Service) {
	mail := &notify.Mailer{Queue: notify.Queue{Tx: s.store, Jobs: s.store.Jobs()}}
	owner := portal.NewOwner(s.store.Processes(), s.store, s.store.Documents(), s.store.EvidenceLog(), Terms{s.Service}, portal.Options{Mail: mail})
	requests := signing.New(s.store.Requests(), s.store, s.store.Documents(), s.store.Jobs(), s.store.EvidenceLog(), nil,
		busysignal.New(s.store.BusySignals(), s.store, busysignal.Options{}), signing.Options{Owner: owner})
	return portal.New(owner, requests), requests
}

// now is the time, in the form that backends keep.
func now(ctx context.Context) time.Time { return storage.Clock(nil).Now(ctx) }
