package portal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// ProcessView is a process as it is shown at a time, its EndedAt included.
type ProcessView struct {
	Process
	Status       Status
	Participants []ParticipantState
}

// ParticipantState is a participant as it is shown with its process.
type ParticipantState struct {
	Participant
	Status Status
	Path   string // where on the server the participant signs or reads; empty: nowhere
}

func (p *Process) view(now time.Time) ProcessView {
	v := ProcessView{Process: *p, Status: p.Status(now)}
	v.noteEnd(now)
	for _, one := range p.Participants {
		v.Participants = append(v.Participants, p.viewOf(one, now))
	}
	return v
}

func (p *Process) viewOf(one Participant, now time.Time) ParticipantState {
	return ParticipantState{one, one.Status(), p.Path(one, now)}
}

// Process returns a process of an account as it is now. [ErrNotFound], also for one that was not made
// with the API (spec 4.5).
func (s *Service) Process(ctx context.Context, account, id string) (ProcessView, error) {
	p, err := s.ofAccount(ctx, account, id)
	if err != nil {
		return ProcessView{}, err
	}
	return p.view(s.now(ctx)), nil
}

// Document opens the document of a process as it is now, whatever the status of the process, with its
// file name. The caller closes it. [ErrNotFound].
func (s *Service) Document(ctx context.Context, account, id string) (fileName string, content storage.Blob, err error) {
	p, err := s.ofAccount(ctx, account, id)
	if err != nil {
		return "", nil, err
	}
	if content, err = s.open(ctx, p); err != nil {
		return "", nil, err
	}
	return p.FileName, content, nil
}

// process reads a process.
func (s records) process(ctx context.Context, id string) (Process, error) {
	p, err := s.store.Process(ctx, id)
	return p, found(err)
}

// ofAccount reads a process that the API shows to an account.
func (s *Service) ofAccount(ctx context.Context, account, id string) (Process, error) {
	p, err := s.process(ctx, id)
	if err == nil && !p.visible(account) {
		return Process{}, ErrNotFound
	}
	return p, err
}

// visible says whether the API shows the process to an account.
func (p *Process) visible(account string) bool { return p.Origin == API && p.Account == account }

// found puts an error of reading a process into this package's words.
func found(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrNotFound):
		return ErrNotFound
	}
	return fmt.Errorf("portal: reading the process: %w", err)
}

// change applies an event to a process and carries out its effects, in a transaction.
func (s records) change(ctx context.Context, id string, e process.Event) error {
	return storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, id)
		if err != nil {
			return err
		}
		return s.applyTo(ctx, &p, e)
	})
}

// applyTo applies an event to a process that was read in the transaction of ctx, carries out its effects
// and stores the process. It is not for [process.Delete], which [Service.delete] applies.
func (s records) applyTo(ctx context.Context, p *Process, e process.Event) error {
	effects, err := p.apply(e, s.now(ctx))
	if err != nil {
		return err
	}
	if err := s.carryOut(ctx, p, e, effects); err != nil {
		return err
	}
	return s.save(ctx, *p)
}

// save stores a process that was changed.
func (s records) save(ctx context.Context, p Process) error {
	p.noteEnd(s.now(ctx))
	if err := s.store.UpdateProcess(ctx, p); err != nil {
		return fmt.Errorf("portal: storing the process: %w", err)
	}
	return nil
}
