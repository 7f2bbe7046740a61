package portal_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
)

// The payloads of spec 5.4, to the member.
func TestPayloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna := s.person("Anna Jónsdóttir", "010130-2989", "1")
		jon := s.person("Jón", "0202302129", "2")
		v := s.mustCreate(s.draft(2, func(d *portal.Draft) { d.Participants[1].Phone = "5551234" }))
		time.Sleep(1500 * time.Microsecond)
		s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[1].ID, jon.ID))
		time.Sleep(time.Hour)
		s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))

		first := map[string]any{
			"name": "Jón", "email": "signer2@example.is", "kennitala": "0202302129", "phone": "5551234",
			"signature": s.value(v.ID, 1), "signedAt": s.instant(v.ID, 1),
		}
		second := map[string]any{
			"name": "Anna Jónsdóttir", "email": "signer1@example.is", "kennitala": "0101302989", "phone": "",
			"signature": s.value(v.ID, 0), "signedAt": s.instant(v.ID, 0),
		}
		s.told(
			map[string]any{"signingProcessId": v.ID, "participant": first},
			map[string]any{"signingProcessId": v.ID, "participant": second},
			map[string]any{"signingProcessId": v.ID, "participants": []any{second, first}},
		)
		for _, e := range s.news.events {
			if e.Account != s.account || e.At.Before(v.CreatedAt) || e.At.After(time.Now()) {
				t.Errorf("%+v", e)
			}
		}
	})
}

// value is the signature of the participant of that place, in Base64.
func (s *service) value(id string, i int) string {
	s.t.Helper()
	v := s.show(id)
	value := v.Participants[i].Signature.Value
	if len(value) < 64 {
		s.t.Errorf("a value of %d bytes", len(value))
	}
	return base64.StdEncoding.EncodeToString(value)
}

// instant is when the participant of that place signed.
func (s *service) instant(id string, i int) string {
	s.t.Helper()
	v := s.show(id)
	at := v.Participants[i].Signature.At
	return at.Format("2006-01-02T15:04:05.") + fmt.Sprintf("%03d", at.Nanosecond()/1e6) + "+00:00"
}

// told checks the data of the events that were sent.
func (s *service) told(want ...any) {
	s.t.Helper()
	var got []any
	for _, e := range s.news.events {
		var data any
		s.must(json.Unmarshal([]byte(e.Body), &data))
		got = append(got, data)
	}
	if d := cmp.Diff(want, got); d != "" {
		s.t.Error(d)
	}
}

// The kennitala of who declines is that of the electronic ID, else the one that was given, else
// nothing (spec 5.4). The time is that of a bubble, which begins with the year 2000.
func TestPayloadOfADecline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna := s.person("Anna Jónsdóttir", "010130-2989", "1")
		for _, test := range []struct {
			given     string
			loggedIn  bool
			kennitala string
		}{{"", true, "0101302989"}, {"0101302989", false, "0101302989"}, {"", false, ""}} {
			s.news.events = nil
			v := s.mustCreate(s.draft(1, func(d *portal.Draft) { d.Participants[0].Kennitala = test.given }))
			if test.loggedIn {
				s.login(v, 0, anna)
			}
			s.must(s.DeclineAs(t.Context(), s.account, v.ID, v.Participants[0].ID, "Nei, <takk>"))
			s.told(map[string]any{"signingProcessId": v.ID, "participant": map[string]any{
				"name": "Signer 1", "email": "signer1@example.is", "kennitala": test.kennitala, "phone": "",
				"declineReason": "Nei, <takk>", "declinedAt": "2000-01-01T00:00:00.000+00:00",
			}})
			s.recorded(v.ID, append([]string{"process.created"}, map[bool][]string{true: {"participant.loggedin", "participant.declined"}, false: {"participant.declined"}}[test.loggedIn]...)...)
			if letters := s.news.letters("decline"); letters[len(letters)-1] != (letter{"decline", v.ID, "signer1@example.is", ""}) {
				t.Error(letters)
			}
		}
	})
}

// Links are credentials, which nothing tells but the mail.
func TestNothingTellsOfLinks(t *testing.T) {
	s := newService(t, wiring{})
	anna := s.person("Anna Jónsdóttir", "0101302989", "1")
	v := s.mustCreate(s.draft(1))
	token := regexp.MustCompile(v.Participants[0].Path[len("/sign/"):])
	s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
	entries, err := s.db.EvidenceLog().Entries(t.Context(), v.ID)
	s.must(err)
	for _, e := range entries {
		if token.Match(e.Facts) {
			t.Errorf("%s: %s", e.Kind, e.Facts)
		}
	}
	for _, e := range s.news.events {
		if token.MatchString(e.Body) {
			t.Errorf("%+v", e)
		}
	}
}

// Whatever is made on the web is silent, and invisible to the API; it is signed like any other
// (spec 4.5).
func TestWebProcess(t *testing.T) {
	s := newService(t, wiring{})
	anna, jon := s.person("Anna", "0101302989", "1"), s.person("Jón", "0202302129", "2")
	web := func(signers int) portal.ProcessView {
		return s.mustCreate(s.draft(signers, func(d *portal.Draft) { d.Origin, d.Client = portal.Web, "" }))
	}
	v, declined := web(1), web(2)
	one := v.Participants[0].ID
	_, err := s.Process(t.Context(), s.account, v.ID)
	s.wants(portal.ErrNotFound, err)
	_, _, err = s.Document(t.Context(), s.account, v.ID)
	s.wants(portal.ErrNotFound, err)
	s.wants(portal.ErrNotFound, s.Delete(t.Context(), s.account, v.ID))
	s.wants(portal.ErrNotFound, s.SignAs(t.Context(), s.account, v.ID, one, anna.ID))
	s.wants(portal.ErrNotFound, s.DeclineAs(t.Context(), s.account, v.ID, one, ""))

	s.login(v, 0, anna)
	started, err := s.sign(v, 0)
	s.must(err)
	s.drive(started.ID, "")
	s.is(v.ID, portal.Completed)
	s.login(declined, 1, jon)
	s.must(s.Decline(t.Context(), declined.ID, declined.Participants[1].ID, "no"))
	s.is(declined.ID, portal.Declined)
	if got := s.news.types(); got != nil {
		t.Error(got)
	}
}
