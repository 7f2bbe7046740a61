package portal_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

// TestTurn checks that a participant has the turn as long as the request lasts: no other participant begins to sign, and
// the participant neither begins again nor declines.
func TestTurn(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		s.change(s.anna, takesAMinute)
		s.change(s.jon, takesAMinute)
		v := s.create(2)
		_, err := s.sign(v, 0)
		s.wants(portal.ErrNotLoggedIn, err)
		s.login(v, 0, s.anna)
		s.login(v, 1, s.jon)
		first := s.mustSign(v, 0)
		for i := range 2 {
			_, err := s.sign(v, i)
			s.wants(portal.ErrTurn, err)
		}
		s.wants(portal.ErrTurn, s.Decline(t.Context(), v.ID, v.Participants[0].ID, ""))
		s.signed(s.read(v.ID), 0)
		s.drive(first, "")
		s.is(v.ID, portal.Waiting)
		s.drive(s.mustSign(v, 1), "")
		s.is(v.ID, portal.Completed)
		s.same([]mail{{"completion", v.ID, "", ""}}, s.outbox.sent("completion"))
		s.recorded(v.ID, "process.created", "participant.loggedin", "participant.loggedin", "signature.begun",
			"participant.signed", "signature.begun", "participant.signed", "process.completed")
	})
}

// TestTurnWithoutSignature checks that a request that ends without a signature leaves nothing but its number, and that
// the participant may sign again.
func TestTurnWithoutSignature(t *testing.T) {
	s := newService(t)
	s.change(s.anna, refuses)
	v := s.create(2)
	before := s.read(v.ID)
	s.login(v, 0, s.anna)
	s.login(v, 1, sandbox.User{FullName: "No sandbox user", Kennitala: "0303302239"})
	_, err := s.sign(v, 1)
	var refusal *signing.Refusal
	if !errors.As(err, &refusal) || refusal.Code != idp.UserNotFound {
		t.Error(err)
	}
	s.is(v.ID, portal.Waiting)
	for range 2 {
		s.drive(s.mustSign(v, 0), idp.UserCancelled)
		s.is(v.ID, portal.Waiting)
	}
	if got := s.read(v.ID); string(got) != string(before) {
		t.Errorf("the document has %d bytes more", len(got)-len(before))
	}
	s.same([]string(nil), s.outbox.types())
	s.stores(len(before), 0)
	if got := s.show(v.ID); got.Turns != 3 {
		t.Errorf("%d turns", got.Turns)
	}
}

// TestOvertaken checks calls between whose check and whose turn another signature is made: a participant has not read
// that revision, a sandbox user signs it, and no two turns have the same number.
func TestOvertaken(t *testing.T) {
	s := newService(t)
	overtake := func(v portal.ProcessView, i int, want error) {
		s.signer.beforeStart = func(context.Context) { s.wants(want, s.signAs(v, i, s.jon)) }
	}
	v := s.create(3)
	s.login(v, 0, s.anna)
	sign := func(revision int) (signing.Started, error) {
		return s.Sign(t.Context(), v.ID, v.Participants[0].ID, portal.SignRequest{Method: idp.App, Revision: revision})
	}
	overtake(v, 1, nil)
	for range 2 {
		_, err := sign(0)
		s.wants(portal.ErrChanged, err)
	}
	s.is(v.ID, portal.Waiting)
	started, err := sign(1)
	s.must(err)
	s.drive(started.ID, "")

	other := s.create(2)
	overtake(other, 1, nil)
	s.must(s.signAs(other, 0, s.anna))
	s.is(other.ID, portal.Completed)
	s.signed(s.read(other.ID), 2)
	overtake(v, 2, nil)
	s.wants(portal.ErrAnswered, s.signAs(v, 2, s.anna))
	s.is(v.ID, portal.Completed)
	s.signed(s.read(v.ID), 3)
}

// TestSignatureIsAdded checks that a signature that a person gave is added, whatever happens to the process while the
// person is asked.
func TestSignatureIsAdded(t *testing.T) {
	all := []string{portal.SignedEvent, portal.CompletedEvent}
	nothing := func(*service, portal.ProcessView) error { return nil }
	otherDeclines := func(s *service, v portal.ProcessView) error {
		return s.Decline(s.t.Context(), v.ID, v.Participants[1].ID, "no")
	}
	resend := func(s *service, v portal.ProcessView) error {
		_, err := s.Resend(s.t.Context(), v.ID)
		return err
	}
	noQuota := func(s *service, _ portal.ProcessView) error { return s.accounts.SetQuota(s.t.Context(), s.account, 0) }
	noPayment := func(s *service, _ portal.ProcessView) error {
		return s.accounts.SetPaymentMethod(s.t.Context(), s.account, false)
	}
	const lastMoment = portal.InvitationTime
	for name, test := range map[string]struct {
		last      bool // all others have signed
		begins    time.Duration
		meanwhile func(*service, portal.ProcessView) error
		want      portal.Status
		events    []string
	}{
		"nothing":             {false, 0, nothing, portal.Waiting, all[:1]},
		"nothing, last":       {true, 0, nothing, portal.Completed, all},
		"other declines":      {false, 0, otherDeclines, portal.Declined, []string{portal.DeclinedEvent, portal.SignedEvent}},
		"expires":             {false, lastMoment, nothing, portal.Expired, all[:1]},
		"expires, last":       {true, lastMoment, nothing, portal.Completed, all},
		"expires, resent":     {false, lastMoment, resend, portal.Waiting, all[:1]},
		"resent, last":        {true, 0, resend, portal.Completed, all},
		"quota used up":       {false, 0, noQuota, portal.Waiting, all[:1]},
		"payment method gone": {true, 0, noPayment, portal.Completed, all},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *service) {
				s.change(s.anna, takesAMinute)
				v := s.create(2)
				s.login(v, 0, s.anna)
				s.login(v, 1, s.jon)
				signed := 1
				if test.last {
					s.must(s.signAs(v, 1, s.jon))
					signed, s.outbox.events = 2, nil
				}
				time.Sleep(time.Until(v.CreatedAt.Add(test.begins)))
				request := s.mustSign(v, 0)
				time.Sleep(time.Second)
				s.must(test.meanwhile(s, v))
				s.drive(request, "")
				s.is(v.ID, test.want)
				s.same(test.events, s.outbox.types())
				s.signed(s.read(v.ID), signed)
			})
		})
	}
}

// TestRefusedSandboxUsers checks the errors of SignAs and DeclineAs, in the order of spec 6.4: each call has the faults of
// the rows below it too. The order of the conditions of a process is tested in package process.
func TestRefusedSandboxUsers(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		slow, cancels := s.sandboxUser("Slow", "0404302249", takesAMinute), s.sandboxUser("Cancels", "0303302239", refuses)
		v, signing := s.create(3, func(d *portal.Draft) { d.Participants[0].Kennitala = "0101302989" }), s.create(2)
		first, second, viewer := v.Participants[0].ID, v.Participants[1].ID, v.Participants[3].ID
		s.login(signing, 0, slow)
		s.mustSign(signing, 0)
		other, participant := s.newAccount(true), signing.Participants[0].ID
		for _, test := range []struct {
			what, account, process, participant, user string
			want                                      error
		}{
			{"another account", other, v.ID, viewer, "none", portal.ErrNotFound},
			{"another account, with a user", other, v.ID, viewer, s.anna.ID, portal.ErrNotFound},
			{"no such process", s.account, "none", viewer, "none", portal.ErrNotFound},
			{"participant of another process", s.account, v.ID, participant, s.anna.ID, portal.ErrNotFound},
			{"no such user", s.account, v.ID, viewer, "none", portal.ErrNotFound},
			{"viewer", s.account, v.ID, viewer, cancels.ID, portal.ErrViewer},
			{"another kennitala", s.account, v.ID, first, cancels.ID, portal.ErrOtherPerson},
			{"user who cancels", s.account, v.ID, second, cancels.ID, portal.ErrCannotSign},
			{"user who is slow", s.account, v.ID, second, slow.ID, portal.ErrCannotSign},
			{"another participant's turn", s.account, signing.ID, signing.Participants[1].ID, s.anna.ID, portal.ErrTurn},
			{"no fault", s.account, v.ID, first, s.anna.ID, nil},
		} {
			s.wants(test.want, s.SignAs(t.Context(), test.account, test.process, test.participant, test.user), test.what)
		}
		for _, test := range []struct {
			what, account, process, participant string
			want                                error
		}{
			{"another account", other, v.ID, second, portal.ErrNotFound},
			{"no such process", s.account, "none", second, portal.ErrNotFound},
			{"no participant", s.account, v.ID, "none", portal.ErrNotFound},
			{"answered", s.account, v.ID, first, portal.ErrAnswered},
			{"own turn", s.account, signing.ID, participant, portal.ErrTurn},
			{"another participant's turn", s.account, signing.ID, signing.Participants[1].ID, nil},
		} {
			s.wants(test.want, s.DeclineAs(t.Context(), test.account, test.process, test.participant, ""), "declining:", test.what)
		}
	})
}

// TestNoSandboxUsers checks that production has no sandbox users.
func TestNoSandboxUsers(t *testing.T) {
	s := newService(t, func(o *portal.Options) { o.SandboxUsers = nil })
	v := s.create(1)
	s.wants(portal.ErrNotFound, s.signAs(v, 0, s.anna))
	s.wants(portal.ErrNotFound, s.declineAs(v, 0))
	s.is(v.ID, portal.Waiting)
}

// TestSandboxUserChanged checks a sandbox user who is changed between the check and the request. If the user has become slow,
// the signature is made although the caller has gone.
func TestSandboxUserChanged(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		v := s.create(1)
		meanwhile := func(change func(*sandbox.Profile)) {
			s.signer.beforeStart = func(context.Context) { s.change(s.anna, change) }
		}
		meanwhile(refuses)
		s.wants(portal.ErrCannotSign, s.signAs(v, 0, s.anna))
		success, kennitala := sandbox.Success, "0303302239"
		s.change(s.anna, func(p *sandbox.Profile) { p.Action = &success })
		meanwhile(func(p *sandbox.Profile) { p.Kennitala = &kennitala })
		s.wants(portal.ErrCannotSign, s.signAs(v, 0, s.anna))
		s.is(v.ID, portal.Waiting)

		meanwhile(takesAMinute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.wants(context.DeadlineExceeded, s.SignAs(ctx, s.account, v.ID, v.Participants[0].ID, s.anna.ID))
		s.drive(s.show(v.ID).Turn.Request, "")
		s.is(v.ID, portal.Completed)
	})
}

// ending ends requests, with the signature of a person or without. If failure is nil, they are deleted too.
type ending struct {
	*manualSigner
	by      *portal.Person
	failure *idp.Failure
}

func (e ending) Drive(ctx context.Context, request string) (signing.Progress, error) {
	err := e.end(ctx, request, e.by)
	if e.failure == nil {
		return signing.Progress{}, errors.Join(err, signing.ErrFinished)
	}
	return signing.Progress{Done: true, Failure: e.failure}, err
}

// TestSandboxUserErrors checks the errors of SignAs if the request ends without a signature. It is no error if the request
// is deleted after the signature was made.
func TestSandboxUserErrors(t *testing.T) {
	s := newService(t)
	for want, failure := range map[string]*idp.Failure{
		"portal: the request of a sandbox user has ended without a signature":     nil,
		"portal: signing as a sandbox user failed: InternalError: no such device": {Code: idp.InternalError, Description: "no such device"},
		"process: sandbox user cannot sign now: UserCancelled":                    {Code: idp.UserCancelled},
	} {
		v := s.create(1)
		s.signer.Signing = ending{&manualSigner{Signing: s.signing, s: s}, nil, failure}
		if err := s.signAs(v, 0, s.anna); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		s.is(v.ID, portal.Waiting)
	}
	v := s.create(1)
	s.signer.Signing = ending{&manualSigner{Signing: s.signing, s: s}, &portal.Person{Kennitala: s.anna.Kennitala}, nil}
	s.must(s.signAs(v, 0, s.anna))
	s.is(v.ID, portal.Completed)
}
