package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server/internal/notify"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

// Process is what an operator sees of a signing process: neither links nor what identifies people
// beyond their names and addresses. Texts of clients are on one line, without control characters.
type Process struct {
	ID, Account  string
	Origin       portal.Origin
	Status       portal.Status
	CreatedAt    time.Time
	Until        time.Time // when it expires, or has expired; zero: it does not
	FileName     string
	Size         int64 // bytes of the document as it is now
	Participants []Participant
}

// Participant is a participant of a [Process].
type Participant struct {
	ID, Name, Email string
	Role            portal.Role
	State           string // a portal.Status, or "Signing" while the person is being asked
	Pinned          bool   // the place is that of a person with a certain kennitala
	Invited         time.Time
	Opened          time.Time // when a person first logged in; zero: not yet
	Answered        time.Time // zero: not yet
}

// stateSigning is that of the participant who is being asked to sign.
const stateSigning = "Signing"

// Process implements [Operator]. Links stay sealed in it.
func (s *Service) Process(ctx context.Context, id string) (Process, error) {
	p, err := s.store.Processes().Process(ctx, id)
	if err == nil {
		var document storage.Blob
		if document, err = s.store.Documents().Open(ctx, p.Document); err == nil {
			defer document.Close()
			return processView(p, document.Size(), now(ctx)), nil
		}
	}
	if errors.Is(err, storage.ErrNotFound) { // also when it is deleted between the two
		err = noProcess(id)
	}
	return Process{}, err
}

func noProcess(id string) error { return fmt.Errorf("there is no process %q", id) }

func processView(p portal.Process, size int64, now time.Time) Process {
	view := Process{
		ID: p.ID, Account: p.Account, Origin: p.Origin, Status: p.Status(now), CreatedAt: p.CreatedAt,
		Until: p.WaitsUntil(), FileName: notify.Plain(p.FileName), Size: size,
	}
	for _, one := range p.Participants {
		row := Participant{
			ID: one.ID, Name: notify.Plain(one.Name), Email: notify.Plain(one.Email), Role: one.Role, State: string(one.Status()),
			Pinned: one.Kennitala != "", Invited: one.Link.InvitedAt,
		}
		if p.Turn != nil && p.Turn.Participant == one.ID {
			row.State = stateSigning
		}
		if one.Person != nil {
			row.Opened = one.Person.At
		}
		switch {
		case one.Signature != nil:
			row.Answered = one.Signature.At
		case one.Decline != nil:
			row.Answered = one.Decline.At
		}
		view.Participants = append(view.Participants, row)
	}
	return view
}

// ResendProcess implements [Operator].
func (s *Service) ResendProcess(ctx context.Context, masterKeyFile, id string) (int, error) {
	processes := s.options.Processes
	if processes == nil {
		var err error
		if processes, err = s.invitationService(ctx, masterKeyFile); err != nil {
			return 0, err
		}
	}
	n, err := processes.Resend(ctx, id)
	switch {
	case errors.Is(err, portal.ErrNotFound):
		err = noProcess(id)
	case errors.Is(err, portal.ErrNotWaiting):
		err = fmt.Errorf("process %s is completed or declined, and all its viewers have opened their links: no participant is left to invite", id)
	}
	return n, err
}

// invitationService returns a service that only invites; a server sends the mail. The master key has to open what servers
// have sealed: no server could open a link that was sealed with the key of another store.
func (s *Service) invitationService(ctx context.Context, masterKeyFile string) (*portal.Service, error) {
	keys, err := sealed.ReadFile(masterKeyFile)
	if err == nil {
		_, err = sealed.Webhooks(s.store.Webhooks(), keys).Keys(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("--master-key-file: %w", err)
	}
	mail := &notify.Mailer{Queue: notify.Queue{Tx: s.store, Jobs: s.store.Jobs()}}
	owner := portal.NewOwner(sealed.Processes(s.store.Processes(), keys), s.store, s.store.Documents(), s.store.EvidenceLog(), Terms{s.Service}, portal.Options{Mail: mail})
	return portal.New(owner, nil), nil
}

// Terms are the accounts of a store as package portal knows them.
type Terms struct{ *account.Service }

var _ portal.Accounts = Terms{}

// Terms implements [portal.Accounts].
func (t Terms) Terms(ctx context.Context, id string) (portal.Terms, error) {
	found, err := t.Service.Terms(ctx, id)
	if errors.Is(err, account.ErrClosed) || errors.Is(err, account.ErrNotFound) {
		err = fmt.Errorf("%w: %w", portal.ErrNotFound, err)
	}
	return portal.Terms(found), err
}

// ProcessEvents implements [Operator]. The log outlives a process that was deleted.
func (s *Service) ProcessEvents(ctx context.Context, id string, each func(storage.Entry) error) error {
	log := s.store.EvidenceLog()
	entries, err := log.Entries(ctx, id)
	if err != nil {
		return err
	}
	for _, request := range requestsOf(entries) {
		more, err := log.Entries(ctx, request)
		if err != nil {
			return err
		}
		entries = append(entries, more...)
	}
	slices.SortFunc(entries, func(a, b storage.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return eachOf(entries, each)
}

// requestsOf are the signing requests that entries about a process name, each once.
func requestsOf(entries []storage.Entry) (list []string) {
	for _, e := range entries {
		var facts struct {
			Request string `json:"request"`
		}
		if json.Unmarshal(e.Facts, &facts) == nil && facts.Request != "" && !slices.Contains(list, facts.Request) {
			list = append(list, facts.Request)
		}
	}
	return list
}

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
		err = s.removalService().Remove(ctx, id)
	}
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, portal.ErrNotFound) {
		return ListedProcess{}, noProcess(id)
	}
	return listed(p, now(ctx)), err
}

// removalService returns the server's service of processes, or one that only removes them. Nothing that it stores is sealed.
func (s *Service) removalService() *portal.Service {
	if s.options.Processes != nil {
		return s.options.Processes
	}
	processes, _ := s.removalServices()
	return processes
}

// removalServices returns services that only remove processes and signing requests.
func (s *Service) removalServices() (*portal.Service, *signing.Service) {
	mail := &notify.Mailer{Queue: notify.Queue{Tx: s.store, Jobs: s.store.Jobs()}}
	owner := portal.NewOwner(s.store.Processes(), s.store, s.store.Documents(), s.store.EvidenceLog(), Terms{s.Service}, portal.Options{Mail: mail})
	requests := signing.New(s.store.Requests(), s.store, s.store.Documents(), s.store.Jobs(), s.store.EvidenceLog(), nil,
		busysignal.New(s.store.BusySignals(), s.store, busysignal.Options{}), signing.Options{Owner: owner})
	return portal.New(owner, requests), requests
}
