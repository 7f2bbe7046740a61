package portal_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
)

// A signature once given lands, whatever became of the process while the person was asked.
func TestSignatureLandsAllTheSame(t *testing.T) {
	both := []string{portal.SignedEvent, portal.CompletedEvent}
	const early, lastMoment = 0, portal.InvitationTime
	for name, test := range map[string]struct {
		last      bool // all others have signed
		begins    time.Duration
		meanwhile func(*service, portal.ProcessView) error
		want      portal.Status
		events    []string
	}{
		"nothing happened":        {false, early, nothing, portal.Waiting, both[:1]},
		"nothing, for the last":   {true, early, nothing, portal.Completed, both},
		"another declined":        {false, early, anotherDeclines, portal.Declined, []string{portal.DeclinedEvent, portal.SignedEvent}},
		"it expired":              {false, lastMoment, nothing, portal.Expired, both[:1]},
		"expired, for the last":   {true, lastMoment, nothing, portal.Completed, both},
		"expired and invited":     {false, lastMoment, allAreInvited, portal.Waiting, both[:1]},
		"invited, for the last":   {true, early, allAreInvited, portal.Completed, both},
		"the quota is used up":    {false, early, noQuota, portal.Waiting, both[:1]},
		"nothing is paid for now": {true, early, noPayment, portal.Completed, both},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t, wiring{})
				anna, jon := s.person("Anna", "0101302989", "1", takesAMinute), s.person("Jón", "0202302129", "2")
				v := s.mustCreate(s.draft(2))
				s.login(v, 0, anna)
				s.login(v, 1, jon)
				signed := 1
				if test.last {
					s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[1].ID, jon.ID))
					signed, s.news.events = 2, nil
				}
				time.Sleep(time.Until(v.CreatedAt.Add(test.begins)))
				started, err := s.sign(v, 0)
				s.must(err)
				time.Sleep(time.Second)
				s.must(test.meanwhile(s, v))
				s.drive(started.ID, "")
				s.is(v.ID, test.want)
				if d := cmp.Diff(test.events, s.news.types()); d != "" {
					t.Error(d)
				}
				s.signedTimes(v.ID, signed)
			})
		})
	}
}

func nothing(*service, portal.ProcessView) error { return nil }

func anotherDeclines(s *service, v portal.ProcessView) error {
	return s.Decline(s.t.Context(), v.ID, v.Participants[1].ID, "no")
}

func allAreInvited(s *service, v portal.ProcessView) error {
	_, err := s.Resend(s.t.Context(), v.ID)
	return err
}

func noQuota(s *service, _ portal.ProcessView) error {
	return s.accounts.SetQuota(s.t.Context(), s.account, 0)
}

func noPayment(s *service, _ portal.ProcessView) error {
	return s.accounts.SetPaymentMethod(s.t.Context(), s.account, false)
}
