package portal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// sentEvents checks the data of the events that were sent.
func (s *service) sentEvents(want ...any) {
	s.t.Helper()
	var got []any
	for _, e := range s.outbox.events {
		var data any
		s.must(json.Unmarshal([]byte(e.Body), &data))
		got = append(got, data)
		if e.Account != s.account || !e.At.Equal(time.Now()) && e.At.After(time.Now()) {
			s.t.Errorf("%+v", e)
		}
	}
	s.same(want, got)
}

// TestSigned follows a process of a sandbox to the last signature (spec 6.4): the events have the members of spec 5.4,
// signatures are appended to the document, and they are charged for. Nothing but the mail has the token of a link.
func TestSigned(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		v := s.create(2, func(d *portal.Draft) { d.Participants[0].Kennitala, d.Participants[1].Phone = "0101302989", "5551234" })
		uploaded := s.read(v.ID)
		time.Sleep(1500 * time.Microsecond)
		s.must(s.signAs(v, 1, s.jon))
		time.Sleep(time.Hour)
		s.must(s.signAs(v, 0, s.anna))
		got := s.show(v.ID)
		if got.Status != portal.Completed || got.Turn != nil || got.Turns != 2 {
			t.Errorf("%v, turn %+v of %d", got.Status, got.Turn, got.Turns)
		}
		data := func(i int, name, kennitala, phone string) map[string]any {
			signature := got.Participants[i].Signature
			if len(signature.Value) < 64 {
				t.Errorf("a signature of %d bytes", len(signature.Value))
			}
			return map[string]any{
				"name": name, "email": fmt.Sprintf("signer%d@example.is", i+1), "kennitala": kennitala, "phone": phone,
				"signature": base64.StdEncoding.EncodeToString(signature.Value), "signedAt": signature.At.Format("2006-01-02T15:04:05.000+00:00"),
			}
		}
		first, second := data(1, "Jón", "0202302129", "5551234"), data(0, "Anna Jónsdóttir", "0101302989", "")
		s.sentEvents(
			map[string]any{"signingProcessId": v.ID, "participant": first},
			map[string]any{"signingProcessId": v.ID, "participant": second},
			map[string]any{"signingProcessId": v.ID, "participants": []any{second, first}},
		)
		s.same([]string{portal.SignedEvent, portal.SignedEvent, portal.CompletedEvent}, s.outbox.types())
		content := s.read(v.ID)
		if !bytes.HasPrefix(content, uploaded) {
			t.Error("the uploaded document was changed")
		}
		s.signed(content, 2)
		s.stores(len(content), 2)

		entries, err := s.db.EvidenceLog().Entries(t.Context(), v.ID)
		s.must(err)
		for i := range v.Participants {
			for _, e := range entries {
				if strings.Contains(string(e.Facts), token(v, i)) {
					t.Errorf("%s has the token of a link", e.Kind)
				}
			}
			for _, e := range s.outbox.events {
				if strings.Contains(e.Body, token(v, i)) {
					t.Errorf("%s has the token of a link", e.Type)
				}
			}
		}
	})
}

// TestDeclined checks the event of a decline (spec 5.4). Its kennitala is that of the person who has logged in, else of the
// invited person.
func TestDeclined(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		for _, test := range []struct {
			invited  string
			loggedIn bool
			want     string
		}{{"", true, "0101302989"}, {"0101302989", false, "0101302989"}, {"", false, ""}} {
			s.outbox.events, s.outbox.mails = nil, nil
			v := s.create(1, func(d *portal.Draft) { d.Participants[0].Kennitala = test.invited })
			entries := []string{"process.created", "participant.declined"}
			if test.loggedIn {
				s.login(v, 0, s.anna)
				entries = []string{"process.created", "participant.loggedin", "participant.declined"}
			}
			s.must(s.DeclineAs(t.Context(), s.account, v.ID, v.Participants[0].ID, "Nei, <takk>"))
			s.sentEvents(map[string]any{"signingProcessId": v.ID, "participant": map[string]any{
				"name": "Signer 1", "email": "signer1@example.is", "kennitala": test.want, "phone": "",
				"declineReason": "Nei, <takk>", "declinedAt": "2000-01-01T00:00:00.000+00:00", // the time of a bubble
			}})
			s.recorded(v.ID, entries...)
			s.same([]mail{{"decline", v.ID, "signer1@example.is", ""}}, s.outbox.sent("decline"))
		}
	})
}

// TestWebProcess checks that processes of [portal.Web] have no events and are not shown by the API, and that they are
// signed like others (spec 4.5).
func TestWebProcess(t *testing.T) {
	s := newService(t)
	v, declined := s.create(1, ofWeb), s.create(2, ofWeb)
	_, err := s.Process(t.Context(), s.account, v.ID)
	s.wants(portal.ErrNotFound, err)
	_, _, err = s.Document(t.Context(), s.account, v.ID)
	s.wants(portal.ErrNotFound, err)
	s.wants(portal.ErrNotFound, s.Delete(t.Context(), s.account, v.ID))
	s.wants(portal.ErrNotFound, s.signAs(v, 0, s.anna))
	s.wants(portal.ErrNotFound, s.declineAs(v, 0))

	s.login(v, 0, s.anna)
	s.drive(s.mustSign(v, 0), "")
	s.is(v.ID, portal.Completed)
	s.login(declined, 1, s.jon)
	s.must(s.Decline(t.Context(), declined.ID, declined.Participants[1].ID, "no"))
	s.is(declined.ID, portal.Declined)
	s.same([]string(nil), s.outbox.types())
}

// TestEffectsAreAtomic checks that a change is not made if its events and mails cannot be stored. A signature is then
// added later.
func TestEffectsAreAtomic(t *testing.T) {
	s := newService(t)
	v := s.create(2)
	s.outbox.err = errors.New("cannot be stored")
	for what, call := range map[string]func() error{
		"create":  func() error { _, err := s.Create(t.Context(), s.draft(1)); return err },
		"decline": func() error { return s.declineAs(v, 0) },
		"resend":  func() error { _, err := s.Resend(t.Context(), v.ID); return err },
		"delete":  func() error { return s.Delete(t.Context(), s.account, v.ID) },
	} {
		s.wants(s.outbox.err, call(), what)
		got, err := s.Process(t.Context(), s.account, v.ID)
		s.must(err)
		s.same(v, got, what)
	}
	s.stores(len(s.read(v.ID)), 0)
	s.recorded(v.ID, "process.created")
	s.noUploads()

	s.wants(s.outbox.err, s.signAs(v, 0, s.anna))
	turn := s.show(v.ID).Turn
	if turn == nil {
		t.Fatal("the turn is over")
	}
	s.same([]string(nil), s.outbox.types())
	s.signed(s.read(v.ID), 0)
	s.outbox.err = nil
	s.drive(turn.Request, "")
	s.is(v.ID, portal.Waiting)
	s.signed(s.read(v.ID), 1)
	s.same([]string{portal.SignedEvent}, s.outbox.types())
}
