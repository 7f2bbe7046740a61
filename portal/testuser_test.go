package portal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

// The refusals of spec 6.4, and what else there is to refuse, in the order of spec
// 6.4: each call here has all that is wrong from its own line on.
func TestRefusedTestPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna, jon := s.person("Anna", "0101302989", "1"), s.person("Jón", "0202302129", "2", takesAMinute)
		cancels := s.person("Vala", "0303302239", "3", refuses)
		v := s.mustCreate(s.draft(3, func(d *portal.Draft) { d.Participants[0].Kennitala = "0101302989" }))
		first, second, viewer := v.Participants[0].ID, v.Participants[1].ID, v.Participants[3].ID
		other := s.newAccount(true)
		over := s.mustCreate(s.draft(2))
		s.must(s.DeclineAs(t.Context(), s.account, over.ID, over.Participants[0].ID, ""))
		turn := s.mustCreate(s.draft(2))
		s.login(turn, 0, jon)
		_, err := s.sign(turn, 0)
		s.must(err)
		for _, test := range []struct {
			what                         string
			account, process, one, human string
			want                         error
		}{
			{"another account", other, v.ID, viewer, "nobody", portal.ErrNotFound},
			{"another account, with a person", other, v.ID, viewer, anna.ID, portal.ErrNotFound},
			{"no such process", s.account, "none", viewer, "nobody", portal.ErrNotFound},
			{"participant of another process", s.account, v.ID, over.Participants[0].ID, anna.ID, portal.ErrNotFound},
			{"no such person", s.account, v.ID, viewer, "nobody", portal.ErrNotFound},
			{"a viewer", s.account, v.ID, viewer, cancels.ID, portal.ErrViewer},
			{"answered", s.account, over.ID, over.Participants[0].ID, cancels.ID, portal.ErrAnswered},
			{"another kennitala", s.account, v.ID, first, cancels.ID, portal.ErrOtherPerson},
			{"who would cancel", s.account, over.ID, over.Participants[1].ID, cancels.ID, portal.ErrCannotSign},
			{"who takes time", s.account, v.ID, second, jon.ID, portal.ErrCannotSign},
			{"not waiting", s.account, over.ID, over.Participants[1].ID, anna.ID, portal.ErrNotWaiting},
			{"another's turn", s.account, turn.ID, turn.Participants[1].ID, anna.ID, portal.ErrTurn},
			{"of another who has logged in", s.account, turn.ID, turn.Participants[0].ID, anna.ID, portal.ErrOtherPerson},
			{"nothing", s.account, v.ID, first, anna.ID, nil},
		} {
			s.wants(test.want, s.SignAs(t.Context(), test.account, test.process, test.one, test.human), test.what)
		}
		for _, test := range []struct {
			what                  string
			account, process, one string
			want                  error
		}{
			{"another account", other, v.ID, second, portal.ErrNotFound},
			{"no such process", s.account, "none", second, portal.ErrNotFound},
			{"no participant", s.account, v.ID, "none", portal.ErrNotFound},
			{"a viewer", s.account, v.ID, viewer, portal.ErrViewer},
			{"answered", s.account, v.ID, first, portal.ErrAnswered},
			{"not waiting", s.account, over.ID, over.Participants[1].ID, portal.ErrNotWaiting},
			{"in their turn", s.account, turn.ID, turn.Participants[0].ID, portal.ErrTurn},
			{"in another's", s.account, turn.ID, turn.Participants[1].ID, nil},
			{"nothing is wrong", s.account, v.ID, second, nil},
		} {
			s.wants(test.want, s.DeclineAs(t.Context(), test.account, test.process, test.one, ""), "declining:", test.what)
		}
	})
}

// Production has no test people.
func TestNoTestPeople(t *testing.T) {
	s := newService(t, wiring{noPeople: true})
	anna := s.person("Anna", "0101302989", "1")
	v := s.mustCreate(s.draft(1))
	s.wants(portal.ErrNotFound, s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
	s.wants(portal.ErrNotFound, s.DeclineAs(t.Context(), s.account, v.ID, v.Participants[0].ID, ""))
	s.is(v.ID, portal.Waiting)
}

// A test person who was changed between being looked at and being asked.
func TestPersonChangedMeanwhile(t *testing.T) {
	race := new(racing)
	s := newService(t, wiring{signing: func(real portal.Signing) portal.Signing {
		race.Signing = real
		return race
	}})
	anna := s.person("Anna", "0101302989", "1")
	v := s.mustCreate(s.draft(1))
	one := v.Participants[0].ID
	cancel, other := sandbox.Cancel, "0303302239"
	race.first = func(ctx context.Context) {
		s.must(s.people.Update(ctx, s.account, anna.ID, sandbox.Profile{Action: &cancel}))
	}
	s.wants(portal.ErrCannotSign, s.SignAs(t.Context(), s.account, v.ID, one, anna.ID))
	success := sandbox.Success
	s.must(s.people.Update(t.Context(), s.account, anna.ID, sandbox.Profile{Action: &success}))
	race.first = func(ctx context.Context) {
		s.must(s.people.Update(ctx, s.account, anna.ID, sandbox.Profile{Kennitala: &other}))
	}
	s.wants(portal.ErrCannotSign, s.SignAs(t.Context(), s.account, v.ID, one, anna.ID))
	s.is(v.ID, portal.Waiting)
	s.must(s.SignAs(t.Context(), s.account, v.ID, one, anna.ID))
	s.is(v.ID, portal.Completed)
}

// Who does not wait for the end of the call finds the signature all the same.
func TestCallThatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		race := new(racing)
		s := newService(t, wiring{signing: func(real portal.Signing) portal.Signing {
			race.Signing = real
			return race
		}})
		anna := s.person("Anna", "0101302989", "1")
		v := s.mustCreate(s.draft(1))
		late := time.Minute
		race.first = func(ctx context.Context) {
			s.must(s.people.Update(ctx, s.account, anna.ID, sandbox.Profile{Delay: &late}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.wants(context.DeadlineExceeded, s.SignAs(ctx, s.account, v.ID, v.Participants[0].ID, anna.ID))
		got := s.show(v.ID)
		s.drive(got.Turn.Request, "")
		s.is(v.ID, portal.Completed)
	})
}

// hopeless ends requests without a signature. Without a failure they are forgotten too.
type hopeless struct {
	*hand
	failure *idp.Failure
}

func (h hopeless) Drive(ctx context.Context, request string) (signing.Progress, error) {
	err := h.end(ctx, request, nil)
	if h.failure == nil {
		return signing.Progress{}, errors.Join(err, signing.ErrFinished)
	}
	return signing.Progress{Done: true, Failure: h.failure}, err
}

// Why there is no signature is told in words.
func TestWithoutSignature(t *testing.T) {
	for want, failure := range map[string]*idp.Failure{
		"portal: the request of a test user has ended without a signature": nil,
		"portal: signing as a test user failed: InternalError: no room":    {Code: idp.InternalError, Description: "no room"},
		"process: test user cannot sign now: UserCancelled":                {Code: idp.UserCancelled},
	} {
		h := hopeless{new(hand), failure}
		h.s = newService(t, wiring{signing: func(real portal.Signing) portal.Signing {
			h.Signing = real
			return h
		}})
		anna := h.s.person("Anna", "0101302989", "1")
		v := h.s.mustCreate(h.s.draft(1))
		if err := h.s.SignAs(t.Context(), h.s.account, v.ID, v.Participants[0].ID, anna.ID); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		h.s.is(v.ID, portal.Waiting)
	}
}
