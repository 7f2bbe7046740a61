package portal_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
)

// TestViews checks that views change nothing: mail programs open links before people do.
func TestViews(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		v := s.create(2)
		link := token(v, 1)
		for range 5 {
			view, err := s.LinkView(t.Context(), link)
			s.must(err)
			s.same(portal.ParticipantView{ProcessView: v, Participant: v.Participants[1]}, view)
			byID, err := s.ParticipantView(t.Context(), v.ID, view.Participant.ID)
			s.must(err)
			s.same(view, byID)
		}
		s.recorded(v.ID, "process.created")
		for _, unknown := range []string{"", "x", v.ID, link[1:], link + "x", strings.ToUpper(link), strings.Repeat("x", 1<<16)} {
			_, err := s.LinkView(t.Context(), unknown)
			s.wants(portal.ErrNotFound, err, unknown)
		}
		for _, unknown := range [][2]string{{"", ""}, {v.ID, ""}, {v.ID, v.ID}, {"none", v.Participants[0].ID}} {
			_, err := s.ParticipantView(t.Context(), unknown[0], unknown[1])
			s.wants(portal.ErrNotFound, err, unknown)
		}
		other := s.newAccount(true)
		_, err := s.Process(t.Context(), other, v.ID)
		s.wants(portal.ErrNotFound, err)
		_, _, err = s.Document(t.Context(), other, v.ID)
		s.wants(portal.ErrNotFound, err)
		time.Sleep(portal.InvitationTime + time.Microsecond)
		for range 2 { // before and after the token is removed
			view, err := s.LinkView(t.Context(), link)
			if err != nil || view.Link != portal.LinkExpired || view.Status != portal.Expired {
				t.Errorf("%v, %v, %v", view.Link, view.Status, err)
			}
			_, err = s.Sweep(t.Context())
			s.must(err)
		}
		s.must(s.Delete(t.Context(), s.account, v.ID))
		_, err = s.LinkView(t.Context(), link)
		s.wants(portal.ErrNotFound, err)
		_, err = s.ParticipantView(t.Context(), v.ID, v.Participants[1].ID)
		s.wants(portal.ErrNotFound, err)
	})
}

// TestOpen checks that signers and viewers read the document at any status of the process, and that the number of the
// revision is that of the document if a signature is added while it is opened.
func TestOpen(t *testing.T) {
	s := newService(t)
	v := s.create(3)
	open := func(i, want int) {
		t.Helper()
		c, err := s.Open(t.Context(), v.ID, v.Participants[i].ID)
		s.must(err)
		defer c.Close()
		content, err := io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
		s.must(err)
		s.signed(content, want)
		if c.Revision != want || c.FileName != "Contract.pdf" {
			t.Errorf("%s is revision %d, want %d", c.FileName, c.Revision, want)
		}
	}
	open(0, 0)
	s.store.afterRead = func(*portal.Process) { s.must(s.signAs(v, 0, s.anna)) }
	open(3, 1)
	s.store.afterRead = func(*portal.Process) {
		s.store.afterRead = func(*portal.Process) { s.must(s.signAs(v, 1, s.jon)) }
	}
	open(3, 1) // the signature is added after the document was opened
	open(3, 2)
	s.must(s.declineAs(v, 2))
	open(2, 2)

	_, err := s.Open(t.Context(), v.ID, "none")
	s.wants(portal.ErrNotFound, err)
	s.store.afterRead = func(*portal.Process) { s.must(s.Delete(t.Context(), s.account, v.ID)) }
	for range 2 {
		_, err = s.Open(t.Context(), v.ID, v.Participants[0].ID)
		s.wants(portal.ErrNotFound, err)
	}

	crowd := s.create(8)
	reads := 0
	var signAll func(*portal.Process) // each read has one signature more
	signAll = func(p *portal.Process) {
		for i := range reads {
			p.Participants[i].Signature = new(portal.Signature)
		}
		reads++
		s.store.afterRead = signAll
	}
	s.store.afterRead = signAll
	_, err = s.Open(t.Context(), crowd.ID, crowd.Participants[0].ID)
	s.wants(portal.ErrChanged, err)
}

// TestProgress checks that participants see the progress of their own requests only, during the requests and afterwards.
func TestProgress(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		anna := s.sandboxUser("Cancels", "0303302239", takesAMinute, refuses)
		v, other := s.create(2), s.create(2)
		for _, p := range []portal.ProcessView{v, other} {
			s.login(p, 0, anna)
			s.login(p, 1, s.jon)
		}
		none := func(v portal.ProcessView, i int, request string) {
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
		none(v, 0, "")
		request := s.mustSign(v, 0)
		for _, same := range []string{"", request} {
			is(same, false, "")
			none(v, 1, same)
			none(other, 0, same)
			none(other, 1, same)
		}
		none(v, 0, "none")
		api, err := s.signing.Start(t.Context(), signing.Start{
			Account: s.account, Document: s.upload(nil), Name: "Contract.pdf", Level: ades.B, Person: idp.Person{Account: s.account, Method: idp.App, Kennitala: anna.Kennitala},
		})
		s.must(err)
		none(v, 0, api.ID)
		s.drive(request, idp.UserCancelled)
		is(request, true, idp.UserCancelled)
		none(v, 0, "")
		second := s.mustSign(v, 1)
		s.drive(second, "")
		none(v, 0, second)
		is(request, true, idp.UserCancelled)
		s.must(s.Delete(t.Context(), s.account, v.ID))
		none(v, 0, request)
	})
}
