package portal_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// A link is good for a login of the right person, for seven days (spec 4.3), and from then on
// for that person.
func TestLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		v := s.mustCreate(s.draft(2, func(d *portal.Draft) { d.Participants[0].Kennitala = "0101302989" }))
		anna, jon := portal.Person{Name: "Anna", Kennitala: "010130-2989"}, portal.Person{Name: "Jón", Kennitala: "0202302129"}
		login := func(i int, who portal.Person) error {
			_, _, err := s.Login(t.Context(), strings.TrimPrefix(v.Participants[i].Path, "/sign/"), who)
			return err
		}
		again := func(i int, who portal.Person) error {
			return s.LoginAgain(t.Context(), v.ID, v.Participants[i].ID, who)
		}
		s.wants(portal.ErrNotLoggedIn, again(0, anna))
		s.wants(portal.ErrOtherPerson, login(0, jon))
		s.must(login(0, anna))
		s.must(login(0, anna)) // in another tab
		s.wants(portal.ErrOtherPerson, login(0, jon))
		s.must(again(0, anna))
		s.wants(portal.ErrOtherPerson, again(0, jon))
		s.must(login(1, jon))
		for _, token := range []string{"", "x", v.Participants[0].ID, strings.Repeat("x", 1<<16)} {
			_, _, err := s.Login(t.Context(), token, anna)
			s.wants(portal.ErrNotFound, err)
		}
		s.wants(portal.ErrNotFound, s.LoginAgain(t.Context(), "none", v.Participants[0].ID, anna))
		s.wants(portal.ErrNotFound, s.LoginAgain(t.Context(), v.ID, "none", anna))

		got := s.show(v.ID)
		want := portal.Person{Name: "Anna", Kennitala: "0101302989", At: v.CreatedAt}
		if one := got.Participants[0]; *one.Person != want || one.Link.Hash != nil || one.Link.Token != nil || one.Path != "/sign/"+v.ID+"/"+one.ID {
			t.Errorf("%+v, %s", one.Person, one.Path)
		}
		s.recorded(v.ID, "process.created", "participant.loggedin", "participant.loggedin", "participant.loggedin") // not the other tab

		time.Sleep(portal.InvitationTime)
		other := s.mustCreate(s.draft(2))
		s.must(login(2, jon))
		time.Sleep(portal.InvitationTime + time.Microsecond)
		v = other
		s.wants(portal.ErrNotFound, login(2, jon))
	})
}

// Who has come may look at what has come of it, also when it is over.
func TestLoginWhenItIsOver(t *testing.T) {
	s := newService(t, wiring{})
	anna := s.person("Anna", "0101302989", "1")
	v := s.mustCreate(s.draft(2))
	s.must(s.DeclineAs(t.Context(), s.account, v.ID, v.Participants[1].ID, "no"))
	s.login(v, 0, anna)
	s.login(v, 2, anna)
	_, err := s.sign(v, 0)
	s.wants(portal.ErrNotWaiting, err)
	_, err = s.sign(v, 1)
	s.wants(portal.ErrAnswered, err)
	_, err = s.sign(v, 2)
	s.wants(portal.ErrViewer, err)
	s.must(s.LoginAgain(t.Context(), v.ID, v.Participants[0].ID, portal.Person{Kennitala: "0101302989"}))
}
