package portal_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
)

// A participant is told of the own attempts, while they last and afterwards, and of nobody else's.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna, jon := s.person("Anna", "0101302989", "1", takesAMinute, refuses), s.person("Jón", "0202302129", "2")
		v, other := s.mustCreate(s.draft(2)), s.mustCreate(s.draft(2))
		for _, p := range []portal.ProcessView{v, other} {
			s.login(p, 0, anna)
			s.login(p, 1, jon)
		}
		vain := func(v portal.ProcessView, i int, request string) {
			t.Helper()
			_, err := s.Progress(t.Context(), v.ID, v.Participants[i].ID, request)
			s.wants(portal.ErrNotFound, err)
		}
		is := func(request string, done bool, want idp.ErrorCode) {
			t.Helper()
			p, err := s.Progress(t.Context(), v.ID, v.Participants[0].ID, request)
			if err != nil || p.Done != done || (p.Failure != nil) != (want != "") || p.Failure != nil && p.Failure.Code != want {
				t.Errorf("%+v, %v; want %v %q", p, err, done, want)
			}
		}
		vain(v, 0, "")
		started, err := s.sign(v, 0)
		s.must(err)
		is("", false, "")
		is(started.ID, false, "")
		for _, request := range []string{"", started.ID} {
			vain(v, 1, request)
			vain(other, 0, request)
			vain(other, 1, request)
		}
		vain(v, 0, "none")
		api, err := s.signing.Start(t.Context(), signing.Start{
			Account: s.account, Document: s.upload(nil), Name: "Contract.pdf", Level: ades.B, Person: idp.Person{Account: s.account, Method: idp.App, Kennitala: anna.Kennitala},
		})
		s.must(err)
		vain(v, 0, api.ID)
		s.drive(started.ID, idp.UserCancelled)
		is(started.ID, true, idp.UserCancelled)
		vain(v, 0, "")
		second, err := s.sign(v, 1)
		s.must(err)
		s.drive(second.ID, "")
		vain(v, 0, second.ID)
		is(started.ID, true, idp.UserCancelled)
		s.must(s.Delete(t.Context(), s.account, v.ID))
		vain(v, 0, started.ID)
	})
}

// Nobody's phone rings for a document that somebody else has signed since it was read, also when that
// happens between the question and its answer.
func TestSigningAfterAnother(t *testing.T) {
	race := new(racing)
	s := newService(t, wiring{signing: func(real portal.Signing) portal.Signing {
		race.Signing = real
		return race
	}})
	anna, jon := s.person("Anna", "0101302989", "1"), s.person("Jón", "0202302129", "2")
	v := s.mustCreate(s.draft(2))
	s.login(v, 0, anna)
	ask := func(revision int) (string, error) {
		started, err := s.Sign(t.Context(), v.ID, v.Participants[0].ID, portal.SignRequest{Method: idp.App, Revision: revision})
		return started.ID, err
	}
	race.first = func(ctx context.Context) {
		s.must(s.SignAs(ctx, s.account, v.ID, v.Participants[1].ID, jon.ID))
	}
	for range 2 {
		_, err := ask(0)
		s.wants(portal.ErrChanged, err)
	}
	s.is(v.ID, portal.Waiting)
	request, err := ask(1)
	s.must(err)
	s.drive(request, "")
	s.is(v.ID, portal.Completed)
	s.signedTimes(v.ID, 2)
}
