package portal

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal/process"
)

const (
	firstKennitala  = "0101302989"
	secondKennitala = "0202302129"

	week, moment = InvitationTime, time.Microsecond
)

// timeline is a process with a clock: "first" and "second" are signers, "viewer" a viewer.
type timeline struct {
	Process
	t      *testing.T
	now    time.Time
	tokens map[string]string // of the first links
}

// change is something that happens on a timeline.
type change func(*timeline)

func after(t *testing.T, steps ...change) *timeline {
	line := &timeline{t: t, now: time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC), tokens: make(map[string]string)}
	line.ID = "a process"
	for id, role := range map[string]Role{"first": Signer, "second": Signer, "viewer": Viewer} {
		one := process.Participant{ID: id, Role: role, Link: newLink(line.now)}
		line.tokens[id] = string(one.Link.Token)
		line.Participants = append(line.Participants, Participant{Participant: one})
	}
	for _, s := range steps {
		s(line)
	}
	return line
}

func event(e process.Event) change {
	return func(line *timeline) {
		line.t.Helper()
		if _, err := line.apply(e, line.now); err != nil {
			line.t.Fatal(err)
		}
	}
}

func logIn(participant, kennitala string) change {
	return func(line *timeline) {
		event(process.LogIn{Link: hashToken(line.tokens[participant]), Person: Person{Kennitala: kennitala}})(line)
	}
}

func sign(participant, kennitala string) change {
	return func(line *timeline) {
		event(process.BeginSigningAs{Participant: participant, Kennitala: kennitala, Ready: true})(line)
		event(process.AddSignature{Turn: line.Turns, Signature: Signature{Kennitala: kennitala}})(line)
		event(process.EndTurn{Turn: line.Turns})(line)
	}
}

func decline(participant string) change {
	return event(process.DeclineSigningAs{Participant: participant})
}

func wait(d time.Duration) change { return func(line *timeline) { line.now = line.now.Add(d) } }

func inviteAgain(line *timeline) {
	event(process.InviteAgain{NewLink: func() Link { return newLink(line.now) }})(line)
}

func expireLinks(line *timeline) { event(process.ExpireLinks{})(line) }

// loseToken is a token that the store cannot decrypt.
func loseToken(participant string) change {
	return func(line *timeline) { line.participant(participant).Link.Token = nil }
}

// TestPath checks where participants sign or read (spec 4.3).
func TestPath(t *testing.T) {
	for name, test := range map[string]struct {
		after []change
		want  map[string]string // by participant: "link", "new link" or "page"
	}{
		"invited":                  {nil, map[string]string{"first": "link", "second": "link", "viewer": "link"}},
		"last moment":              {[]change{wait(week), expireLinks}, map[string]string{"first": "link", "second": "link", "viewer": "link"}},
		"expired":                  {[]change{wait(week + moment)}, map[string]string{}},
		"logged in":                {[]change{logIn("first", firstKennitala), logIn("viewer", secondKennitala)}, map[string]string{"first": "page", "second": "link", "viewer": "page"}},
		"logged in, expired":       {[]change{logIn("first", firstKennitala), wait(week + moment)}, map[string]string{"first": "page"}},
		"signed":                   {[]change{logIn("first", firstKennitala), sign("first", firstKennitala)}, map[string]string{"second": "link", "viewer": "link"}},
		"signed without a login":   {[]change{sign("first", firstKennitala)}, map[string]string{"second": "link", "viewer": "link"}},
		"declined":                 {[]change{decline("first")}, map[string]string{"second": "link", "viewer": "link"}},
		"invited again":            {[]change{wait(week + moment), inviteAgain}, map[string]string{"first": "new link", "second": "new link", "viewer": "new link"}},
		"logged in, invited again": {[]change{logIn("first", firstKennitala), logIn("viewer", secondKennitala), inviteAgain}, map[string]string{"first": "page", "second": "new link", "viewer": "page"}},
		"completed, invited again": {[]change{sign("first", firstKennitala), sign("second", secondKennitala), wait(week + moment), expireLinks, inviteAgain}, map[string]string{"viewer": "new link"}},
		"declined, invited again":  {[]change{decline("first"), inviteAgain}, map[string]string{"second": "link", "viewer": "new link"}},
		"token lost":               {[]change{loseToken("second")}, map[string]string{"first": "link", "viewer": "link"}},
		"token lost, logged in":    {[]change{loseToken("second"), logIn("second", secondKennitala)}, map[string]string{"first": "link", "second": "page", "viewer": "link"}},
	} {
		t.Run(name, func(t *testing.T) {
			line := after(t, test.after...)
			got := make(map[string]string)
			for i := range line.Participants {
				if kind := line.kindOfPath(&line.Participants[i]); kind != "" {
					got[line.Participants[i].ID] = kind
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func (line *timeline) kindOfPath(one *Participant) string {
	switch path := line.Path(*one, line.now); path {
	case "":
		return ""
	case "/sign/a process/" + one.ID:
		return "page"
	case "/sign/" + line.tokens[one.ID]:
		return "link"
	case "/sign/" + string(one.Link.Token):
		return "new link"
	default:
		return path
	}
}

// TestLinked checks which page the first link of a participant leads to: a link that was used up leads to the page, and one
// that was replaced is not found.
func TestLinked(t *testing.T) {
	for name, test := range map[string]struct {
		after []change
		found bool
	}{
		"invited":                  {nil, true},
		"expired":                  {[]change{wait(week + moment), expireLinks}, true},
		"logged in":                {[]change{logIn("second", secondKennitala)}, true},
		"logged in, invited again": {[]change{logIn("second", secondKennitala), inviteAgain}, true},
		"invited again":            {[]change{inviteAgain}, false},
	} {
		t.Run(name, func(t *testing.T) {
			line := after(t, test.after...)
			place, err := line.participantView(line.linked(hashToken(line.tokens["second"])), line.now)
			if found := err == nil; found != test.found {
				t.Fatalf("got %v, want found: %v", err, test.found)
			}
			if test.found && place.Participant.ID != "second" {
				t.Errorf("got the page of %q", place.Participant.ID)
			}
		})
	}
}

func TestLinksDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for range 100 {
		link := newLink(time.Now())
		seen[string(link.Token)] = true
		if len(link.Token) != 43 || string(hashToken(string(link.Token))) != string(link.Hash) {
			t.Errorf("%q %x", link.Token, link.Hash)
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d of 100 differ", len(seen))
	}
}

// TestKennitalaWithHyphen checks that a person is found by a kennitala that a provider writes with a hyphen.
func TestKennitalaWithHyphen(t *testing.T) {
	who := normalizePerson(Person{Kennitala: firstKennitala[:6] + "-" + firstKennitala[6:]})
	if who.Kennitala != firstKennitala || idp.NormalizeKennitala("-") != "" {
		t.Errorf("got %q, want %q", who.Kennitala, firstKennitala)
	}
}
