package portal

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Where participants sign or read (spec 4.3).
func TestPath(t *testing.T) {
	for name, test := range map[string]struct {
		after []action
		want  map[string]string // by participant: "link", "page" or nothing
	}{
		"invited":                   {nil, map[string]string{"Anna": "link", "Jón": "link", "Vala": "link"}},
		"at the last moment":        {[]action{waits(week)}, map[string]string{"Anna": "link", "Jón": "link", "Vala": "link"}},
		"after it":                  {[]action{waits(week + moment)}, map[string]string{}},
		"opened":                    {[]action{opens("Anna", annas), opens("Vala", jons)}, map[string]string{"Anna": "page", "Jón": "link", "Vala": "page"}},
		"opened long ago":           {[]action{opens("Anna", annas), waits(week + moment)}, map[string]string{"Anna": "page"}},
		"signed":                    {[]action{opens("Anna", annas), signs("Anna", annas)}, map[string]string{"Jón": "link", "Vala": "link"}},
		"signed without opening":    {[]action{signs("Anna", annas)}, map[string]string{"Jón": "link", "Vala": "link"}},
		"declined":                  {[]action{declines("Anna")}, map[string]string{"Jón": "link", "Vala": "link"}},
		"invited again":             {[]action{waits(week + moment), inviteAgain}, map[string]string{"Anna": "new", "Jón": "new", "Vala": "new"}},
		"opened, and invited again": {[]action{opens("Anna", annas), opens("Vala", jons), inviteAgain}, map[string]string{"Anna": "page", "Jón": "new", "Vala": "page"}},
		"signed by all, unread":     {[]action{signs("Anna", annas), signs("Jón", jons), waits(week + moment), sweeps, inviteAgain}, map[string]string{"Vala": "new"}},
		"declined, unread":          {[]action{declines("Anna"), inviteAgain}, map[string]string{"Jón": "link", "Vala": "new"}},
		"not to be shown":           {[]action{doesNotOpen("Jón")}, map[string]string{"Anna": "link", "Vala": "link"}},
		"shown again":               {[]action{doesNotOpen("Jón"), inviteAgain}, map[string]string{"Anna": "new", "Jón": "new", "Vala": "new"}},
		"opened, not to be shown":   {[]action{doesNotOpen("Jón"), opens("Jón", jons)}, map[string]string{"Anna": "link", "Jón": "page", "Vala": "link"}},
		"swept before":              {[]action{waits(week), sweeps}, map[string]string{"Anna": "link", "Jón": "link", "Vala": "link"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := told(t, test.after...)
			got := make(map[string]string)
			for i := range s.Participants {
				if kind := s.kindOfPath(&s.Participants[i]); kind != "" {
					got[s.Participants[i].ID] = kind
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func (s *story) kindOfPath(one *Participant) string {
	switch path := s.Path(*one, s.now); path {
	case "":
		return ""
	case "/sign/a process/" + one.ID:
		return "page"
	case "/sign/" + s.tokens[one.ID]:
		return "link"
	case "/sign/" + string(one.Link.Token):
		return "new"
	default:
		return path
	}
}

// doesNotOpen is a token that the store does not open.
func doesNotOpen(who string) action {
	return func(s *story) error {
		s.participant(who).Link.Token = nil
		return nil
	}
}

func sweeps(s *story) error {
	s.eraseExpired(s.now)
	return nil
}

// Tokens are credentials, and are gone once they are good for nothing (spec 4.3).
func TestTokensAreErased(t *testing.T) {
	all := []string{"Anna", "Jón", "Vala"}
	for name, test := range map[string]struct {
		after []action
		want  []string // who has one
	}{
		"invited":           {nil, all},
		"opened":            {[]action{opens("Jón", jons)}, []string{"Anna", "Vala"}},
		"signed":            {[]action{signs("Anna", annas)}, []string{"Jón", "Vala"}},
		"declined":          {[]action{declines("Anna")}, []string{"Jón", "Vala"}},
		"refused":           {[]action{func(s *story) error { _ = opens("Anna", jons)(s); return nil }}, all},
		"swept in time":     {[]action{waits(week), sweeps}, all},
		"swept after it":    {[]action{waits(week + moment), sweeps}, nil},
		"some are new":      {[]action{waits(week), inviteAgain, waits(moment), sweeps}, all},
		"expired, unswept":  {[]action{waits(week + moment)}, all},
		"swept and renewed": {[]action{waits(week + moment), sweeps, inviteAgain}, all},
	} {
		t.Run(name, func(t *testing.T) {
			s := told(t, test.after...)
			var got []string
			for _, one := range s.Participants {
				if (one.Link.Hash == nil) != (one.Link.Token == nil) {
					t.Errorf("%s has half a link", one.ID)
				}
				if one.Link.Token != nil {
					got = append(got, one.ID)
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What the first link of a participant leads to, whatever has become of it: a link that was used up
// leads on to the page, and one that another has taken the place of leads nowhere.
func TestWhereLinksLead(t *testing.T) {
	const nowhere LinkState = -1
	for name, test := range map[string]struct {
		after []action
		want  LinkState // of Jón's
	}{
		"invited":                     {nil, Unopened},
		"at the last moment":          {[]action{waits(week)}, Unopened},
		"after it":                    {[]action{waits(week + moment)}, LinkExpired},
		"swept":                       {[]action{waits(week + moment), sweeps}, LinkExpired},
		"opened":                      {[]action{opens("Jón", jons)}, Opened},
		"opened long ago":             {[]action{opens("Jón", jons), waits(week + moment), sweeps}, Opened},
		"opened twice":                {[]action{opens("Jón", jons), opens("Jón", jons)}, Opened},
		"opened and signed":           {[]action{opens("Jón", jons), signs("Jón", jons)}, Opened},
		"opened and declined":         {[]action{opens("Jón", jons), declines("Jón")}, Opened},
		"signed without opening":      {[]action{signs("Jón", jons)}, Opened},
		"another declined":            {[]action{declines("Anna")}, Unopened},
		"invited again":               {[]action{inviteAgain}, nowhere},
		"opened, and invited again":   {[]action{opens("Jón", jons), inviteAgain}, Opened},
		"swept, and invited again":    {[]action{waits(week + moment), sweeps, inviteAgain}, nowhere},
		"a token that does not open":  {[]action{doesNotOpen("Jón")}, Unopened},
		"it was opened, then expires": {[]action{doesNotOpen("Jón"), opens("Jón", jons), waits(week + moment)}, Opened},
	} {
		t.Run(name, func(t *testing.T) {
			s, got := told(t, test.after...), nowhere
			place, err := s.place(s.linked(hashOf(s.tokens["Jón"])), s.now)
			if err == nil {
				got = place.Link
			}
			if got != test.want || err == nil && (place.Participant.ID != "Jón" || place.Participant.Path != s.Path(place.Participant.Participant, s.now)) {
				t.Errorf("%d, want %d: %+v, %v", got, test.want, place.Participant, err)
			}
		})
	}
}

func TestLinksDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for range 100 {
		link := newLink(time.Now())
		seen[string(link.Token)] = true
		if len(link.Token) != 43 || string(hashOf(string(link.Token))) != string(link.Hash) {
			t.Errorf("%q %x", link.Token, link.Hash)
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d of 100 differ", len(seen))
	}
}
