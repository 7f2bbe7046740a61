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
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server/internal/notify"
	"github.com/innsigli/innsigli/storage"
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

// Process implements [Operator]. It reads the process without the master key, so links remain sealed.
func (s *Service) Process(ctx context.Context, id string) (Process, error) {
	p, err := s.store.Processes().Process(ctx, id)
	if err != nil {
		return Process{}, processError(id, err)
	}
	document, err := s.store.Documents().Open(ctx, p.Document)
	if err != nil { // such as when the process was deleted meanwhile
		return Process{}, processError(id, err)
	}
	defer document.Close()
	return processView(p, document.Size(), now(ctx)), nil
}

// processError returns the error to report about a process: that there is none if err means so, or else err.
func processError(id string, err error) error {
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, portal.ErrNotFound) {
		return fmt.Errorf("there is no process %q", id)
	}
	return err
}

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
	accounts, err := s.accountsIn(ctx, filter)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		for _, origin := range origins {
			of := portal.Listing{Account: a.ID, Origin: origin, Status: filter.Status}
			if err := s.listProcesses(ctx, of, filter, each); err != nil {
				return err
			}
		}
	}
	return nil
}

// accountsIn returns the accounts whose processes a filter chooses.
func (s *Service) accountsIn(ctx context.Context, filter ProcessFilter) ([]account.Account, error) {
	if filter.Account == "" {
		return s.Accounts(ctx)
	}
	one, err := s.Account(ctx, filter.Account)
	return []account.Account{one}, accountError(filter.Account, err)
}

// listProcesses calls each with the processes of a listing that were created in the time of a filter.
func (s *Service) listProcesses(ctx context.Context, of portal.Listing, filter ProcessFilter, each func(ListedProcess) error) error {
	after, at := portal.Position{}, now(ctx)
	if !filter.CreatedAfter.IsZero() {
		// The store keeps microseconds: start at the first one after CreatedAfter.
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
	if err != nil {
		return ListedProcess{}, processError(id, err)
	}
	if err := s.processRemover().Remove(ctx, id); err != nil {
		return ListedProcess{}, processError(id, err)
	}
	return listed(p, now(ctx)), nil
}

// ResendProcess implements [Operator].
func (s *Service) ResendProcess(ctx context.Context, masterKeyFile, id string) (int, error) {
	inviter, err := s.processInviter(ctx, masterKeyFile)
	if err != nil {
		return 0, err
	}
	n, err := inviter.Resend(ctx, id)
	if errors.Is(err, portal.ErrNotWaiting) {
		return 0, fmt.Errorf("process %s is completed or declined, and all its viewers have opened their links: there is no participant to invite", id)
	}
	return n, processError(id, err)
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
