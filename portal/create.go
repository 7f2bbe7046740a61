package portal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// Create makes a process of a draft and invites its participants. Its errors come in this order:
// [*InvalidError], all fields at once; [ErrKeyReused], [ErrKeyInUse], and [ErrNotFound] for a repetition
// whose process was deleted; those of signing.Service.Plan, with [ErrTooMany] where the page has no
// room, and [ErrNotDrawn] where that is not known; [ErrPayment]; [ErrQuota]. Nothing is kept of a process
// that is refused, nor of the document of a repetition, which is answered with the process as it is now.
// After storage.ErrUnavailable it may not be known what came of it: with the same key the call may be
// made again.
func (s *Service) Create(ctx context.Context, d Draft) (ProcessView, error) {
	p, err := s.create(ctx, d)
	if p.Document != d.Document && !errors.Is(err, storage.ErrUnavailable) { // else it is swept, unless it was kept
		dropErr := s.signing.Discard(ctx, d.Document)
		if err == nil && !storage.IsTemporary(dropErr) {
			err = dropErr
		}
	}
	if err != nil {
		return ProcessView{}, err
	}
	return p.view(s.now(ctx)), nil
}

// create makes the process, or finds the one that the same key made.
func (s *Service) create(ctx context.Context, d Draft) (Process, error) {
	if err := d.Check(); err != nil {
		return Process{}, err
	}
	if d.Key == nil {
		return s.make(ctx, d, nil)
	}
	reserved, made, err := s.reserve(ctx, d)
	if err != nil {
		return Process{}, err
	}
	if made != "" {
		return s.process(ctx, made)
	}
	failpoint.Here("portal/reserved")
	stop := s.hold(ctx, reserved)
	p, err := s.make(ctx, d, &reserved)
	stop()
	if err != nil {
		s.release(ctx, reserved)
	}
	return p, err
}

// make stores a process of a draft that was found in order.
func (s *Service) make(ctx context.Context, d Draft, reserved *Key) (Process, error) {
	size, err := s.size(ctx, d.Document)
	if err != nil {
		return Process{}, err
	}
	stamps, err := s.signing.Plan(ctx, d.Document, d.Page, d.Corner, d.signers())
	switch {
	case errors.Is(err, stamp.ErrNoRoom):
		err = fmt.Errorf("%w: %w", ErrTooMany, err)
	case errors.Is(err, stamp.ErrNotDrawn):
		err = fmt.Errorf("%w: %w", ErrNotDrawn, err)
	}
	if err == nil {
		err = ctx.Err() // nobody waits for it any more
	}
	if err != nil {
		return Process{}, err
	}
	failpoint.Here("portal/planned")
	p := d.process(stamps, s.now(ctx))
	err = storage.InTx(context.WithoutCancel(ctx), s.tx, func(ctx context.Context) error {
		if err := s.use(ctx, reserved, p.ID); err != nil {
			return err
		}
		if err := s.afford(ctx, d.Account, d.signers(), size, p.CreatedAt); err != nil {
			return err
		}
		return s.add(ctx, &p, d.Client, size)
	})
	if err != nil {
		return Process{}, err
	}
	failpoint.Here("portal/created")
	return p, nil
}

// add stores a process with what follows from it.
func (s *Service) add(ctx context.Context, p *Process, client string, size int64) error {
	if err := s.store.CreateProcess(ctx, *p); err != nil {
		return fmt.Errorf("portal: storing the process: %w", err)
	}
	if err := s.documents.Keep(ctx, p.Document); err != nil {
		return fmt.Errorf("portal: keeping the document: %w", err)
	}
	if err := s.recordCreated(ctx, p, client, size); err != nil {
		return err
	}
	for i := range p.Participants {
		if err := s.invite(ctx, p, &p.Participants[i]); err != nil {
			return err
		}
	}
	return nil
}

// process is what becomes of the draft. stamps are those of the signers in their order.
func (d *Draft) process(stamps []*signing.Stamp, now time.Time) Process {
	p := Process{
		ID: uuid.NewString(), Account: d.Account, Origin: cmp.Or(d.Origin, API), CreatedAt: now,
		FileName: d.FileName, Document: d.Document,
	}
	for _, in := range d.Participants {
		one := Participant{
			Participant: process.Participant{ID: uuid.NewString(), Role: in.Role, Kennitala: in.Kennitala, Link: newLink(now)},
			Name:        in.Name, Email: in.Email, Phone: in.Phone,
		}
		if in.Role == Signer {
			one.Stamp, stamps = stamps[0], stamps[1:]
		}
		p.Participants = append(p.Participants, one)
	}
	return p
}

func (d *Draft) signers() (n int) {
	for _, one := range d.Participants {
		if one.Role == Signer {
			n++
		}
	}
	return n
}
