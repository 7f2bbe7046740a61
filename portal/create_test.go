package portal_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// TestCreate checks a new process: its participants are those of the draft, in the same order, and invited, each signer
// has a stamp of its own, the evidence log has what was sent to whom, and the account is charged for the bytes.
func TestCreate(t *testing.T) {
	s := newService(t)
	d := s.draft(2, func(d *portal.Draft) {
		d.Participants[0].Kennitala, d.Participants[0].Phone = "0101302989", "5551234"
	})
	v := s.mustCreate(d)
	want := portal.ProcessView{Status: portal.Waiting, Process: portal.Process{Account: s.account, Origin: portal.API, FileName: "Contract.pdf", Document: d.Document}}
	for _, in := range d.Participants {
		one := portal.Participant{Participant: process.Participant{Role: in.Role, Kennitala: in.Kennitala}, Name: in.Name, Email: in.Email, Phone: in.Phone}
		status := portal.Waiting
		if in.Role == portal.Viewer {
			status = process.None
		}
		want.Participants = append(want.Participants, portal.ParticipantState{Participant: one, Status: status})
	}
	ignore := []cmp.Option{
		cmpopts.IgnoreFields(portal.Process{}, "ID", "CreatedAt", "Participants"),
		cmpopts.IgnoreFields(portal.Participant{}, "ID", "Link", "Stamp"),
		cmpopts.IgnoreFields(portal.ParticipantState{}, "Path"),
	}
	if d := cmp.Diff(want, v, ignore...); d != "" {
		t.Error(d)
	}
	read, err := s.Process(t.Context(), s.account, v.ID)
	s.must(err)
	s.same(v, read)
	var mails []mail
	var recorded []any
	for i, one := range v.Participants {
		mails = append(mails, mail{"invitation", v.ID, one.Email, one.Path})
		facts := map[string]any{"participant": one.ID, "role": string(one.Role), "name": one.Name, "email": one.Email}
		if one.Kennitala != "" {
			facts["kennitala"] = one.Kennitala
		}
		recorded = append(recorded, facts)
		if !strings.HasPrefix(one.Path, "/sign/") || len(one.Path) != len("/sign/")+43 {
			t.Error(one.Path)
		}
		if (one.Stamp != nil) != (one.Role == portal.Signer) || i == 1 && one.Stamp.Rect == v.Participants[0].Stamp.Rect {
			t.Errorf("%+v", one.Stamp)
		}
	}
	s.same(mails, s.outbox.sent("invitation"))
	size := len(s.read(v.ID))
	s.same(map[string]any{
		"client": "a client", "origin": "api", "document": "Contract.pdf", "size": float64(size), "participants": recorded, "warnings": []any{},
	}, s.recorded(v.ID, "process.created"))
	s.stores(size, 0)
	s.noUploads()
}

// TestRefusedCreation checks that nothing is left of a process that is refused (spec 4.1).
func TestRefusedCreation(t *testing.T) {
	s := newService(t)
	unpaid := s.newAccount(false)
	small := pdftest.Build(pdftest.Options{})
	errAny := errors.New("any error")
	for name, test := range map[string]struct {
		signers int
		content []byte
		change  func(*portal.Draft)
		want    error
	}{
		"no PDF":            {1, []byte("This is no PDF."), nil, ades.ErrUnreadable},
		"page 0":            {1, small, func(d *portal.Draft) { d.Page = 0 }, stamp.ErrNoPage},
		"page -1":           {1, small, func(d *portal.Draft) { d.Page = -1 }, stamp.ErrNoPage},
		"page 2 of 1":       {1, small, func(d *portal.Draft) { d.Page = 2 }, stamp.ErrNoPage},
		"too many":          {99, small, nil, portal.ErrTooMany},
		"not paid for":      {4, small, func(d *portal.Draft) { d.Account = unpaid }, portal.ErrPayment},
		"unknown account":   {1, small, func(d *portal.Draft) { d.Account = "none" }, errAny},
		"no such document":  {1, small, func(d *portal.Draft) { d.Document = "none" }, storage.ErrNotFound},
		"one byte too many": {1, append(small[:len(small):len(small)], '\n'), nil, portal.ErrQuota},
		"invalid":           {1, small, func(d *portal.Draft) { d.FileName = "" }, errAny},
		"caller has gone":   {1, small, nil, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.must(s.accounts.SetQuota(t.Context(), s.account, int64(len(small))))
			d := s.draft(test.signers, func(d *portal.Draft) {
				if test.change != nil {
					test.change(d)
				}
				if d.Document == "" {
					d.Document = s.upload(test.content)
				}
			})
			d.Key = &portal.DraftKey{Value: "a key", Fingerprint: name}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.want == context.Canceled {
				s.signer.afterPlan = func() error { s.signer.afterPlan = nil; cancel(); return nil }
			}
			_, err := s.Create(ctx, d)
			if err == nil || test.want != errAny && !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			var invalid *portal.InvalidError
			if errors.As(err, &invalid) != (name == "invalid") {
				t.Error(err)
			}
			s.noUploads()
			_, err = s.db.Processes().Key(t.Context(), d.Client, "a key")
			s.wants(storage.ErrNotFound, err)
			s.same([]mail(nil), s.outbox.sent("invitation"))
			s.stores(0, 0)
		})
	}
}

// TestQuota checks that a document of exactly the quota is admitted, and that the quota refuses no signature.
func TestQuota(t *testing.T) {
	s := newService(t)
	d := s.draft(1)
	s.must(s.accounts.SetQuota(t.Context(), s.account, int64(len(pdftest.Build(pdftest.Options{})))))
	v := s.mustCreate(d)
	_, err := s.Create(t.Context(), s.draft(1))
	s.wants(portal.ErrQuota, err)
	s.must(s.signAs(v, 0, s.anna))
	s.stores(len(s.read(v.ID)), 1)
	s.must(s.Delete(t.Context(), s.account, v.ID))
	s.stores(0, 1)
	s.create(1)
}

// TestFreeSignatures checks that the free signatures of an account are used by signatures that were made and by signers
// of waiting processes (spec 4.7).
func TestFreeSignatures(t *testing.T) {
	s := newService(t)
	s.account = s.newAccount(false)
	anna := s.sandboxUser("Anna", "0101302989")
	refused := func(signers int) {
		t.Helper()
		_, err := s.Create(t.Context(), s.draft(signers))
		s.wants(portal.ErrPayment, err)
	}
	refused(4)
	first := s.create(2)
	refused(2)
	s.must(s.signAs(first, 0, anna))
	refused(2) // one was made, and the process waits for one
	s.must(s.Delete(t.Context(), s.account, first.ID))
	s.must(s.declineAs(s.create(2), 0))
	s.create(1)
	s.create(1, ofWeb)
	refused(1)
	s.must(s.accounts.SetPaymentMethod(t.Context(), s.account, true))
	s.create(4)
}

// TestConcurrentCreation checks that concurrent calls do not use the same free signatures.
func TestConcurrentCreation(t *testing.T) {
	s := newService(t)
	s.account = s.newAccount(false)
	drafts := []portal.Draft{s.draft(3), s.draft(3), s.draft(2)}
	errs := make([]error, len(drafts))
	var all sync.WaitGroup
	for i, d := range drafts {
		all.Go(func() { _, errs[i] = s.Create(t.Context(), d) })
	}
	all.Wait()
	created := 0
	for _, err := range errs {
		if err == nil {
			created++
		} else {
			s.wants(portal.ErrPayment, err)
		}
	}
	if created != 1 {
		t.Error(errs)
	}
}

// TestClosedAccount checks that an account that is being deleted gets no process and no idempotency key, and that its
// participants begin no signature. A repeated call still returns the process that was created before.
func TestClosedAccount(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		v := s.mustCreate(s.keyed("old", "body"))
		s.login(v, 0, s.anna)
		s.must(s.accounts.CloseAccount(t.Context(), s.account))
		_, err := s.sign(v, 0)
		s.wants(account.ErrClosed, err)
		for what, d := range map[string]portal.Draft{"no key": s.draft(1), "a key": s.keyed("new", "body")} {
			_, err := s.Create(t.Context(), d)
			s.wants(account.ErrClosed, err, what)
		}
		again := s.mustCreate(s.keyed("old", "body"))
		if again.ID != v.ID || s.show(v.ID).Turn != nil {
			t.Errorf("%+v", again)
		}
		for r, err := range s.db.AllRequests(t.Context()) {
			t.Errorf("request %s, %v", r.ID, err)
		}
		for k, err := range s.db.AllKeys(t.Context()) {
			if k.Value != "old" || err != nil {
				t.Errorf("key %q, %v", k.Value, err)
			}
		}
	})
}
