package portal_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// gone checks that nothing is left of a process (spec 4.4).
func (s *service) gone(v portal.ProcessView) {
	s.t.Helper()
	ctx := s.t.Context()
	_, processErr := s.Process(ctx, s.account, v.ID)
	_, _, documentErr := s.Document(ctx, s.account, v.ID)
	_, signErr := s.sign(v, 0)
	_, _, loginErr := s.Login(ctx, token(v, 0), portal.Person{Kennitala: "0101302989"})
	for what, err := range map[string]error{
		"process": processErr, "document": documentErr, "sign": signErr, "login": loginErr, "delete": s.Delete(ctx, s.account, v.ID),
		"decline": s.Decline(ctx, v.ID, v.Participants[0].ID, ""),
	} {
		s.wants(portal.ErrNotFound, err, what)
	}
	_, err := s.db.Processes().Process(ctx, v.ID)
	s.wants(storage.ErrNotFound, err)
	_, err = s.db.Documents().Open(ctx, v.Document)
	s.wants(storage.ErrNotFound, err)
	s.same([]mail(nil), s.outbox.sent("invitation"))
}

// TestDelete checks that events that were sent and signatures that were made before the deletion stay.
func TestDelete(t *testing.T) {
	s := newService(t)
	v := s.create(2)
	s.wants(portal.ErrNotFound, s.Delete(t.Context(), s.newAccount(true), v.ID))
	s.must(s.signAs(v, 0, s.anna))
	s.must(s.Delete(t.Context(), s.account, v.ID))
	s.gone(v)
	s.stores(0, 1)
	s.same([]string{portal.SignedEvent}, s.outbox.types())
	s.recorded(v.ID, "process.created", "signature.begun", "participant.signed", "process.deleted")
}

// TestDeleteWhileSigning checks that the signing request is cancelled, also if it begins while the process is being
// deleted.
func TestDeleteWhileSigning(t *testing.T) {
	for name, begin := range map[string]func(s *service, start func()){
		"before":    func(_ *service, start func()) { start() },
		"meanwhile": func(s *service, start func()) { s.store.afterRead = func(*portal.Process) { start() } },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *service) {
				s.change(s.anna, takesAMinute)
				v := s.create(1)
				s.login(v, 0, s.anna)
				var request string
				driven := make(chan error, 1)
				begin(s, func() {
					request = s.mustSign(v, 0)
					go func() {
						_, err := s.signing.Drive(t.Context(), request)
						driven <- err
					}()
					synctest.Wait()
				})
				s.must(s.Delete(t.Context(), s.account, v.ID))
				s.wants(signing.ErrFinished, <-driven)
				s.gone(v)
				_, err := s.db.Requests().Request(t.Context(), request)
				s.wants(storage.ErrNotFound, err)
				s.stores(0, 0)
				s.same([]string(nil), s.outbox.types())
			})
		})
	}
}

// TestSweep checks that Sweep removes the tokens of expired links and deletes idempotency keys after their retention.
func TestSweep(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		sweep := func(want int) {
			t.Helper()
			n, err := s.Sweep(t.Context())
			if s.must(err); n != want {
				t.Errorf("%d were swept, want %d", n, want)
			}
		}
		first := s.mustCreate(s.keyed("a key", "a body"))
		second := s.create(2)
		s.login(second, 0, s.anna)
		declined := s.create(2)
		s.must(s.declineAs(declined, 0))
		sweep(0)
		time.Sleep(24*time.Hour - 1)
		sweep(0)
		time.Sleep(time.Nanosecond)
		sweep(1)
		time.Sleep(time.Until(first.CreatedAt.Add(portal.InvitationTime)))
		sweep(0)
		time.Sleep(time.Until(declined.CreatedAt.Add(portal.InvitationTime + time.Microsecond)))
		sweep(3)
		sweep(0)
		for _, id := range []string{first.ID, second.ID, declined.ID} {
			for _, one := range s.show(id).Participants {
				if one.Link.Token != nil || one.Link.Hash != nil || one.Link.InvitedAt.IsZero() {
					t.Errorf("%+v", one.Link)
				}
			}
		}
	})
}

// TestSweepBatches checks that a sweep changes one batch, also if more processes than that cannot be changed, and that
// the failure of one of its tasks does not keep it from the others.
func TestSweepBatches(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		errStore := errors.New("cannot be changed")
		failing := make(map[string]bool)
		s.store.updateProcess = func(p portal.Process) error {
			if failing[p.ID] {
				return errStore
			}
			return nil
		}
		for range 25 {
			failing[s.create(1).ID] = true
			time.Sleep(time.Second)
		}
		last := s.mustCreate(s.keyed("a key", "a body"))
		time.Sleep(portal.InvitationTime + time.Second)
		sweep := func(want int, wantErr error) {
			t.Helper()
			n, err := s.Sweep(t.Context())
			if s.wants(wantErr, err); n != want {
				t.Errorf("%d were swept, want %d", n, want)
			}
		}
		sweep(2, errStore) // the last process and the key
		if s.show(last.ID).Participants[0].Link.Hash != nil {
			t.Error("the token of the last process is left")
		}
		_, err := s.db.Processes().Key(t.Context(), "a client", "a key")
		s.wants(storage.ErrNotFound, err)

		clear(failing)
		s.store.deleteKeys = func() error { return errStore }
		sweep(25, errStore) // 20 tokens, with which the end of these processes is stored, and the end of 5 others
		s.store.deleteKeys = nil
		sweep(5, nil)
		sweep(0, nil)
	})
}

// TestDeleteEnded checks that processes that ended before a time are deleted: completed, declined and expired ones, also
// if their end was not stored. A process that waits, that ended later or in which a signature is being made stays.
func TestDeleteEnded(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		create := func(signers int, change ...func(*portal.Draft)) portal.ProcessView {
			time.Sleep(time.Second)
			return s.create(signers, change...)
		}
		completed, declined, expired, waiting, signing := create(1), create(1), create(1), create(1), create(2)
		web := create(1, ofWeb)
		time.Sleep(time.Hour)
		s.must(s.signAs(completed, 0, s.anna))
		s.must(s.declineAs(declined, 0))
		s.must(s.declineAs(signing, 0))
		p := s.show(signing.ID).Process
		p.Turn, p.Turns = &portal.Turn{Number: 1, Participant: p.Participants[1].ID, Request: "a request"}, 1
		s.update(p)
		p = s.show(declined.ID).Process
		p.EndedAt = time.Time{} // as servers of earlier versions stored it
		s.update(p)
		_, err := s.Sweep(t.Context())
		s.must(err)

		deleted := func(before time.Time, want int, left ...string) {
			t.Helper()
			n := 0
			for some := -1; some != 0; n += some {
				some, err = s.DeleteEnded(t.Context(), before)
				s.must(err)
			}
			s.same(left, s.listed(portal.Query{Limit: 100}))
			s.same(want, n, "processes that were done")
		}
		ended := time.Now()
		deleted(ended.Add(-time.Minute), 1, completed.ID, declined.ID, expired.ID, waiting.ID, signing.ID) // it stores an end
		deleted(ended, 0, completed.ID, declined.ID, expired.ID, waiting.ID, signing.ID)
		deleted(ended.Add(time.Second), 2, expired.ID, waiting.ID, signing.ID)
		time.Sleep(portal.InvitationTime)
		_, err = s.Resend(t.Context(), waiting.ID)
		s.must(err)
		_, err = s.Sweep(t.Context())
		s.must(err)
		deleted(time.Now(), 2, waiting.ID, signing.ID)
		s.recorded(completed.ID, "process.created", "signature.begun", "participant.signed", "process.completed", "process.deleted")
		s.recorded(web.ID, "process.created", "process.deleted")
		for _, gone := range []portal.ProcessView{completed, declined, expired, web} {
			_, err := s.db.Documents().Open(t.Context(), gone.Document)
			s.wants(storage.ErrNotFound, err)
		}
	})
}
