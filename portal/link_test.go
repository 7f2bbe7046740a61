package portal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// TestLogin checks that a link admits the right person for seven days (spec 4.3), and that a kennitala may have a hyphen.
// [TestRandomCalls] checks the logins that follow.
func TestLogin(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		v := s.create(2, func(d *portal.Draft) { d.Participants[0].Kennitala = "0101302989" })
		anna, jon := portal.Person{Name: "Anna", Kennitala: "010130-2989"}, portal.Person{Name: "Jón", Kennitala: "020230-2129"}
		login := func(token string, who portal.Person) error {
			_, _, err := s.Login(t.Context(), token, who)
			return err
		}
		again := func(process, participant string, who portal.Person) error {
			return s.LoginAgain(t.Context(), process, participant, who)
		}
		id := v.Participants[0].ID
		s.wants(portal.ErrNotLoggedIn, again(v.ID, id, anna))
		s.wants(portal.ErrOtherPerson, login(token(v, 0), jon))
		s.must(login(token(v, 0), anna))
		s.must(login(token(v, 0), anna)) // in another tab
		s.must(again(v.ID, id, anna))
		s.wants(portal.ErrOtherPerson, again(v.ID, id, jon))
		for _, token := range []string{"", "x", id, strings.Repeat("x", 1<<16)} {
			s.wants(portal.ErrNotFound, login(token, anna))
		}
		s.wants(portal.ErrNotFound, again("none", id, anna))
		s.wants(portal.ErrNotFound, again(v.ID, "none", anna))

		view, err := s.LinkView(t.Context(), token(v, 0))
		s.must(err)
		one := view.Participant
		s.same(portal.Person{Name: "Anna", Kennitala: "0101302989", At: v.CreatedAt}, *one.Person)
		if one.Link.Hash != nil || one.Link.Token != nil || one.Path != "/sign/"+v.ID+"/"+id || view.Link != portal.Opened {
			t.Errorf("%+v, %s", one.Link, one.Path)
		}
		s.recorded(v.ID, "process.created", "participant.loggedin", "participant.loggedin") // not the other tab

		time.Sleep(portal.InvitationTime)
		s.must(login(token(v, 1), jon)) // at the last moment
		time.Sleep(time.Microsecond)
		s.wants(portal.ErrNotFound, login(token(v, 2), jon))
	})
}

// TestResend checks that an expired process waits again for the signers who have not answered, and that participants who
// have not logged in get new links. [TestRandomCalls] checks whom other processes invite.
func TestResend(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		v := s.create(3)
		s.login(v, 0, s.anna)
		s.must(s.signAs(v, 1, s.jon))
		time.Sleep(portal.InvitationTime + time.Second)
		s.is(v.ID, portal.Expired)
		n, err := s.Resend(t.Context(), v.ID)
		s.must(err)
		s.is(v.ID, portal.Waiting)
		got := s.show(v.ID)
		var mails []mail // the first invitations were withdrawn
		var ids []any
		for _, i := range []int{0, 2, 3} {
			one := got.Participants[i]
			mails, ids = append(mails, mail{"invitation", v.ID, one.Email, one.Path}), append(ids, one.ID)
			if one.Path == v.Participants[i].Path || one.Path == "" || !one.Link.InvitedAt.After(v.CreatedAt) {
				t.Errorf("%s: %q, invited at %v", one.Name, one.Path, one.Link.InvitedAt)
			}
		}
		s.same(mails, s.outbox.sent("invitation"))
		s.same([]any{3, ""}, []any{n, got.Participants[1].Path}, "invited, path of who has signed")
		s.same(map[string]any{"participants": ids},
			s.recorded(v.ID, "process.created", "participant.loggedin", "signature.begun", "participant.signed", "process.invited"))
		_, _, err = s.Login(t.Context(), token(v, 3), portal.Person{Name: "Vala", Kennitala: "0303302239"})
		s.wants(portal.ErrNotFound, err)
		_, err = s.LinkView(t.Context(), token(v, 3))
		s.wants(portal.ErrNotFound, err)
		s.login(got, 3, s.jon)
		s.must(s.signAs(v, 2, s.jon))
		s.must(s.signAs(v, 0, s.anna))
		_, err = s.Resend(t.Context(), v.ID)
		s.wants(portal.ErrNotWaiting, err)
		_, err = s.Resend(t.Context(), "none")
		s.wants(portal.ErrNotFound, err)
	})
}
