package portal_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
)

// An expired process waits again for all who have not answered, and those whose links led nowhere get
// new ones.
func TestResend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna, jon := s.person("Anna", "0101302989", "1"), s.person("Jón", "0202302129", "2")
		v := s.mustCreate(s.draft(3))
		s.login(v, 0, anna)
		s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[1].ID, jon.ID))
		time.Sleep(portal.InvitationTime + time.Second)
		s.is(v.ID, portal.Expired)
		n, err := s.Resend(t.Context(), v.ID)
		s.must(err)
		s.is(v.ID, portal.Waiting)
		got := s.show(v.ID)
		var want []letter // what was not sent of the first invitations is not sent any more
		for _, i := range []int{0, 2, 3} {
			one := got.Participants[i]
			want = append(want, letter{"invitation", v.ID, one.Email, one.Path})
			if (one.Path == v.Participants[i].Path) || one.Path == "" || !one.Link.InvitedAt.After(v.CreatedAt) {
				t.Errorf("%s: %q, invited at %v", one.Name, one.Path, one.Link.InvitedAt)
			}
		}
		if d := cmp.Diff(want, s.news.letters("invitation")); d != "" || n != 3 {
			t.Error(n, d)
		}
		if path := got.Participants[1].Path; path != "" {
			t.Error("who has signed is invited again:", path)
		}
		s.recorded(v.ID, "process.created", "participant.loggedin", "signature.begun", "participant.signed", "process.invited")
		s.recordedLast(v.ID, map[string]any{"participants": []any{got.Participants[0].ID, got.Participants[2].ID, got.Participants[3].ID}})
		_, _, err = s.Login(t.Context(), v.Participants[3].Path[len("/sign/"):], portal.Person{Name: "Vala", Kennitala: "0303302239"})
		s.wants(portal.ErrNotFound, err)
		s.login(got, 3, jon)
		s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[2].ID, jon.ID))
		s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
		_, err = s.Resend(t.Context(), v.ID)
		s.wants(portal.ErrNotWaiting, err)
		_, err = s.Resend(t.Context(), "none")
		s.wants(portal.ErrNotFound, err)
	})
}

// recordedLast checks the facts of the last entry about a process.
func (s *service) recordedLast(subject string, want map[string]any) {
	s.t.Helper()
	entries, err := s.db.EvidenceLog().Entries(s.t.Context(), subject)
	s.must(err)
	var got map[string]any
	s.must(json.Unmarshal(entries[len(entries)-1].Facts, &got))
	if d := cmp.Diff(want, got); d != "" {
		s.t.Error(d)
	}
}

// When nobody is waited for, viewers who have not looked are invited again, until they have.
func TestResendWhenItIsOver(t *testing.T) {
	for want, decline := range map[portal.Status]bool{portal.Completed: false, portal.Declined: true} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, wiring{})
			anna := s.person("Anna", "0101302989", "1")
			v := s.mustCreate(s.draft(2))
			s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
			if decline {
				s.must(s.DeclineAs(t.Context(), s.account, v.ID, v.Participants[1].ID, ""))
			} else {
				s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[1].ID, anna.ID))
			}
			time.Sleep(portal.InvitationTime + time.Second)
			n, err := s.Resend(t.Context(), v.ID)
			s.must(err)
			got := s.show(v.ID)
			viewer := got.Participants[2]
			invited := s.news.letters("invitation") // those to the signers too, which are not sent when they are outdated
			if d := cmp.Diff(letter{"invitation", v.ID, viewer.Email, viewer.Path}, invited[len(invited)-1]); d != "" || n != 1 || viewer.Path == "" {
				t.Error(n, d)
			}
			s.recordedLast(v.ID, map[string]any{"participants": []any{viewer.ID}})
			s.is(v.ID, want)
			s.login(got, 2, anna)
			_, err = s.Resend(t.Context(), v.ID)
			s.wants(portal.ErrNotWaiting, err)
		})
	}
}

// What else was not sent yet stays to be sent.
func TestResendLeavesOtherMail(t *testing.T) {
	s := newService(t, wiring{})
	anna := s.person("Anna", "0101302989", "1")
	completed, declined := s.mustCreate(s.draft(2)), s.mustCreate(s.draft(2))
	for i := range 2 {
		s.must(s.SignAs(t.Context(), s.account, completed.ID, completed.Participants[i].ID, anna.ID))
	}
	s.must(s.DeclineAs(t.Context(), s.account, declined.ID, declined.Participants[0].ID, "no"))
	for _, id := range []string{completed.ID, declined.ID} {
		if n, err := s.Resend(t.Context(), id); n != 1 || err != nil { // the viewer
			t.Errorf("%d invited, %v", n, err)
		}
	}
	if c, d := s.news.letters("completion"), s.news.letters("decline"); len(c) != 1 || len(d) != 1 {
		t.Errorf("%v, %v", c, d)
	}
}
