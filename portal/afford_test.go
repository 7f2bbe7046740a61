package portal_test

import (
	"sync"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
)

// The quota is enough for what is as large, and stays enough for signatures.
func TestQuota(t *testing.T) {
	s := newService(t, wiring{})
	anna := s.person("Anna", "0101302989", "5550101")
	d := s.draft(1)
	s.must(s.accounts.SetQuota(t.Context(), s.account, int64(len(pdftest.Build(pdftest.Options{})))))
	v := s.mustCreate(d)
	_, err := s.Create(t.Context(), s.draft(1))
	s.wants(portal.ErrQuota, err)
	s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
	s.stores(int64(len(s.read(v.ID))))
	s.must(s.Delete(t.Context(), s.account, v.ID))
	s.stores(0)
	s.mustCreate(s.draft(1))
}

// spec 4.7: the free signatures of an account are those that were not made and that no process
// waits for.
func TestFreeSignatures(t *testing.T) {
	s := newService(t, wiring{})
	s.account = s.newAccount(false)
	anna := s.person("Anna", "0101302989", "5550101")
	refused := func(signers int) {
		t.Helper()
		_, err := s.Create(t.Context(), s.draft(signers))
		s.wants(portal.ErrPayment, err)
	}
	refused(4)
	first := s.mustCreate(s.draft(2))
	refused(2)
	s.must(s.SignAs(t.Context(), s.account, first.ID, first.Participants[0].ID, anna.ID))
	refused(2) // one was made, and one is waited for
	s.must(s.Delete(t.Context(), s.account, first.ID))
	second := s.mustCreate(s.draft(2))
	s.must(s.DeclineAs(t.Context(), s.account, second.ID, second.Participants[0].ID, ""))
	s.mustCreate(s.draft(1))
	s.mustCreate(s.draft(1, func(d *portal.Draft) { d.Origin = portal.Web }))
	refused(1)
	s.must(s.accounts.SetPaymentMethod(t.Context(), s.account, true))
	s.mustCreate(s.draft(4))
}

// Of two processes at once that each take all that is free, one is made.
func TestFreeSignaturesAreNotGivenTwice(t *testing.T) {
	s := newService(t, wiring{})
	s.account = s.newAccount(false)
	drafts := []portal.Draft{s.draft(3), s.draft(3), s.draft(2)}
	errs := make([]error, len(drafts))
	var all sync.WaitGroup
	for i, d := range drafts {
		all.Go(func() { _, errs[i] = s.Create(t.Context(), d) })
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else {
			s.wants(portal.ErrPayment, err)
		}
	}
	if made != 1 {
		t.Error(errs)
	}
}
