package portal

import (
	"errors"
	"testing"
	"time"
)

const (
	annas = "0101302989"
	jons  = "0202302129"

	week, moment = InvitationTime, time.Microsecond
)

// story is a process to which things happen: Anna, whose kennitala was given, and Jón are to sign, and
// Vala may read.
type story struct {
	Process
	now    time.Time
	tokens map[string]string // of the first links
}

func newStory() *story {
	s := &story{now: time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC), tokens: make(map[string]string)}
	s.ID, s.CreatedAt = "a process", s.now
	for _, one := range []Participant{
		{ID: "Anna", Role: Signer, Kennitala: annas}, {ID: "Jón", Role: Signer}, {ID: "Vala", Role: Viewer},
	} {
		one.Link = newLink(s.now)
		s.tokens[one.ID] = string(one.Link.Token)
		s.Participants = append(s.Participants, one)
	}
	return s
}

type action func(*story) error

func opens(who, kennitala string) action {
	return func(s *story) error {
		_, err := s.login(hashOf(s.tokens[who]), Person{Name: who, Kennitala: kennitala}, s.now)
		return err
	}
}

func returns(who, kennitala string) action {
	return func(s *story) error {
		_, err := s.loginAgain(who, Person{Name: who, Kennitala: kennitala})
		return err
	}
}

// begins is signing on the page what it shows, beginsHavingRead what it has shown earlier, and beginsAs
// is a test person's.
func begins(who string) action {
	return func(s *story) error { return beginsHavingRead(who, s.Revision())(s) }
}

func beginsHavingRead(who string, revision int) action {
	return func(s *story) error {
		if _, err := s.maySign(who, revision, s.now); err != nil {
			return err
		}
		s.begin(who, "a request", s.now)
		return nil
	}
}

func beginsAs(who, kennitala string, ready bool) action {
	return func(s *story) error {
		if err := s.maySignAs(who, kennitala, ready, s.now); err != nil {
			return err
		}
		s.begin(who, "a request", s.now)
		return nil
	}
}

// lands is a signature by the last turn, and landsLate one by the turn before.
func lands(kennitala string) action {
	return func(s *story) error { return s.lands(s.Turns, kennitala) }
}

func landsLate(kennitala string) action {
	return func(s *story) error { return s.lands(s.Turns-1, kennitala) }
}

func (s *story) lands(turn int64, kennitala string) error {
	_, err := s.land(turn, Signature{Kennitala: kennitala, Value: []byte("value"), At: s.now})
	s.end(turn)
	return err
}

func fails(s *story) error {
	s.end(s.Turns)
	return nil
}

func signs(who, kennitala string) action {
	return func(s *story) error {
		return errors.Join(beginsAs(who, kennitala, true)(s), lands(kennitala)(s))
	}
}

func declines(who string) action {
	return func(s *story) error {
		_, err := s.decline(who, "no", s.now)
		return err
	}
}

func waits(long time.Duration) action {
	return func(s *story) error {
		s.now = s.now.Add(long)
		return nil
	}
}

func inviteAgain(s *story) error {
	_, err := s.inviteAgain(s.now)
	return err
}

func told(t *testing.T, actions ...action) *story {
	t.Helper()
	s := newStory()
	for _, do := range actions {
		if err := do(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
