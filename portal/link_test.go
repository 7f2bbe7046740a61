package portal_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// TestLogin checks that a link admits the right person for seven days (spec 4.3), and after the login that person alone.
func TestLogin(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		v := s.create(2, func(d *portal.Draft) { d.Participants[0].Kennitala = "0101302989" })
		anna, jon := portal.Person{Name: "Anna", Kennitala: "010130-2989"}, portal.Person{Name: "Jón", Kennitala: "0202302129"}
		login := func(v portal.ProcessView, i int, who portal.Person) error {
			_, _, err := s.Login(t.Context(), token(v, i), who)
			return err
		}
		again := func(i int, who portal.Person) error {
			return s.LoginAgain(t.Context(), v.ID, v.Participants[i].ID, who)
		}
		s.wants(portal.ErrNotLoggedIn, again(0, anna))
		s.wants(portal.ErrOtherPerson, login(v, 0, jon))
		s.must(login(v, 0, anna))
		s.must(login(v, 0, anna)) // in another tab
		s.wants(portal.ErrOtherPerson, login(v, 0, jon))
		s.must(again(0, anna))
		s.wants(portal.ErrOtherPerson, again(0, jon))
		s.must(login(v, 1, jon))
		for _, token := range []string{"", "x", v.Participants[0].ID, strings.Repeat("x", 1<<16)} {
			_, _, err := s.Login(t.Context(), token, anna)
			s.wants(portal.ErrNotFound, err)
		}
		s.wants(portal.ErrNotFound, s.LoginAgain(t.Context(), "none", v.Participants[0].ID, anna))
		s.wants(portal.ErrNotFound, s.LoginAgain(t.Context(), v.ID, "none", anna))

		view, err := s.LinkView(t.Context(), token(v, 0))
		s.must(err)
		one := view.Participant
		s.same(portal.Person{Name: "Anna", Kennitala: "0101302989", At: v.CreatedAt}, *one.Person)
		if one.Link.Hash != nil || one.Link.Token != nil || one.Path != "/sign/"+v.ID+"/"+v.Participants[0].ID || view.Link != portal.Opened {
			t.Errorf("%+v, %s", one.Link, one.Path)
		}
		s.recorded(v.ID, "process.created", "participant.loggedin", "participant.loggedin", "participant.loggedin") // not the other tab

		time.Sleep(portal.InvitationTime)
		other := s.create(2)
		s.must(login(v, 2, jon)) // at the last moment
		time.Sleep(portal.InvitationTime + time.Microsecond)
		s.wants(portal.ErrNotFound, login(other, 2, jon))
	})
}

// TestResend checks that an expired process waits again for the signers who have not answered, and that participants who
// have not logged in get new links.
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

// TestResendWhenEnded checks that viewers who have not logged in are invited again to a process that is completed or
// declined, and that its other mail is not withdrawn.
func TestResendWhenEnded(t *testing.T) {
	for want, kind := range map[portal.Status]string{portal.Completed: "completion", portal.Declined: "decline"} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t)
			v := s.create(2)
			s.must(s.signAs(v, 0, s.anna))
			if want == portal.Declined {
				s.must(s.declineAs(v, 1))
			} else {
				s.must(s.signAs(v, 1, s.anna))
			}
			time.Sleep(portal.InvitationTime + time.Second)
			n, err := s.Resend(t.Context(), v.ID)
			s.must(err)
			got := s.show(v.ID)
			viewer := got.Participants[2]
			invited := s.outbox.sent("invitation")
			s.same(mail{"invitation", v.ID, viewer.Email, viewer.Path}, invited[len(invited)-1])
			if n != 1 || viewer.Path == "" || len(s.outbox.sent(kind)) != 1 {
				t.Errorf("%d invited, %q; mails: %v", n, viewer.Path, s.outbox.mails)
			}
			s.is(v.ID, want)
			s.login(got, 2, s.anna)
			_, err = s.Resend(t.Context(), v.ID)
			s.wants(portal.ErrNotWaiting, err)
		})
	}
}
