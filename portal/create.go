package portal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// Create creates a process from a draft and invites its participants. If the draft's key was used before with the same
// body, it returns that process as it is now.
//
// Errors, in the order in which they are checked: [*InvalidError] with the faults of all fields; [ErrKeyReused];
// [ErrKeyInUse]; [ErrNotFound] if the process of a repeated call was deleted; the errors of signing.Service.Plan, with
// [ErrTooMany] or [ErrNotDrawn] if there are no places for the stamps; [*inspect.RefusedError] if the account refuses
// documents with such warnings; [ErrPayment]; [ErrQuota].
//
// Create discards the draft's document unless it belongs to the new process. After storage.ErrUnavailable the process
// may exist or not. The caller may then call Create again with the same key.
func (s *Service) Create(ctx context.Context, d Draft) (ProcessView, error) {
	p, err := s.createOrFind(ctx, d)
	if p.Document != d.Document && !errors.Is(err, storage.ErrUnavailable) { // else it is swept, unless the process exists
		discardErr := s.signing.Discard(ctx, d.Document)
		if err == nil && !storage.IsTemporary(discardErr) {
			err = discardErr
		}
	}
	if err != nil {
		return ProcessView{}, err
	}
	return p.view(s.now(ctx)), nil
}

// createOrFind creates the process, or finds the one that was created with the same key.
func (s *Service) createOrFind(ctx context.Context, d Draft) (Process, error) {
	if err := d.Check(); err != nil {
		return Process{}, err
	}
	if d.Key == nil {
		return s.createNew(ctx, d, nil)
	}
	reserved, existing, err := s.reserveKey(ctx, d)
	if err != nil {
		return Process{}, err
	}
	if existing != "" {
		return s.process(ctx, existing)
	}
	failpoint.Here("portal/reserved")
	stop := s.renewKey(ctx, reserved)
	p, err := s.createNew(ctx, d, &reserved)
	stop()
	if err != nil {
		s.releaseKey(ctx, reserved)
	}
	return p, err
}

// createNew creates a process from a valid draft. reserved is the draft's key; nil: it has none.
func (s *Service) createNew(ctx context.Context, d Draft, reserved *Key) (Process, error) {
	size, err := s.documentSize(ctx, d.Document)
	if err != nil {
		return Process{}, err
	}
	stamps, err := s.signing.Plan(ctx, d.Account, d.Document, d.Page, d.Corner, d.signers())
	switch {
	case errors.Is(err, stamp.ErrNoRoom):
		err = fmt.Errorf("%w: %w", ErrTooMany, err)
	case errors.Is(err, stamp.ErrNotDrawn):
		err = fmt.Errorf("%w: %w", ErrNotDrawn, err)
	}
	var warnings []inspect.Warning
	if err == nil {
		warnings, err = s.signing.Warnings(ctx, d.Account, d.Document)
	}
	if err == nil {
		err = ctx.Err() // the caller has gone
	}
	if err != nil {
		return Process{}, err
	}
	failpoint.Here("portal/planned")
	p := d.process(stamps, s.now(ctx))
	p.Warnings = warnings
	err = storage.InTx(context.WithoutCancel(ctx), s.tx, func(ctx context.Context) error {
		if err := s.useKey(ctx, reserved, p.ID); err != nil {
			return err
		}
		if err := s.checkTerms(ctx, &p, d.signers(), size); err != nil {
			return err
		}
		return s.storeNew(ctx, &p, d.Client, size)
	})
	if err != nil {
		return Process{}, err
	}
	failpoint.Here("portal/created")
	return p, nil
}

// storeNew stores a new process with its evidence and its invitations, and counts the bytes of its document.
func (s *Service) storeNew(ctx context.Context, p *Process, client string, size int64) error {
	if err := s.addStored(ctx, p.Account, size); err != nil {
		return err
	}
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

// process returns the process that the draft describes. stamps are those of the signers in their order.
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

// checkTerms checks whether the account of a new process may create it, with so many signers and a document of that size.
// [*inspect.RefusedError], [ErrPayment], [ErrQuota].
func (s *Service) checkTerms(ctx context.Context, p *Process, signers int, size int64) error {
	terms, err := s.accounts.Terms(ctx, p.Account)
	if err != nil {
		return fmt.Errorf("portal: reading the terms of the account: %w", err)
	}
	if refused := terms.Documents.Refused(p.Warnings); len(refused) > 0 {
		return &inspect.RefusedError{Codes: refused}
	}
	if !terms.PaymentMethod {
		if err := s.checkFree(ctx, p.Account, terms.FreeLeft, signers, p.CreatedAt); err != nil {
			return err
		}
	}
	if size > terms.StorageLeft {
		return ErrQuota
	}
	return nil
}

// checkFree checks whether the free signatures of an account are enough for so many more signers. The signers who have
// not signed in waiting processes need free signatures too (spec 4.7). [ErrPayment].
func (s *Service) checkFree(ctx context.Context, account string, free, signers int, now time.Time) error {
	if free < signers {
		return ErrPayment
	}
	// A process still waits at its last moment, and it has at least one unsigned signer.
	waiting, err := s.store.Waiting(ctx, account, now.Add(-time.Microsecond), free)
	if err != nil {
		return fmt.Errorf("portal: reading the processes of the account: %w", err)
	}
	for _, p := range waiting {
		free -= p.Unsigned()
	}
	if free < signers {
		return ErrPayment
	}
	return nil
}

// addStored adds to the size of the documents that an account stores.
func (s core) addStored(ctx context.Context, account string, bytes int64) error {
	if err := s.accounts.AddStoredBytes(ctx, account, bytes); err != nil {
		return fmt.Errorf("portal: counting stored bytes: %w", err)
	}
	return nil
}

// documentSize returns the size of a document in bytes.
func (s core) documentSize(ctx context.Context, document string) (int64, error) {
	blob, err := s.documents.Open(ctx, document)
	if err != nil {
		return 0, fmt.Errorf("portal: opening the document: %w", err)
	}
	defer blob.Close()
	return blob.Size(), nil
}
