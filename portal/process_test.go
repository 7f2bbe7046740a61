package portal

import (
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal/process"
)

// TestPath checks where participants sign or read (spec 4.3).
func TestPath(t *testing.T) {
	invited := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	unopened := newLink(invited)
	used := Link{InvitedAt: invited, Was: unopened.Hash}
	link, page := "/sign/"+string(unopened.Token), "/sign/a process/a participant"
	for name, test := range map[string]struct {
		one   process.Participant
		after time.Duration // since the invitation
		want  string
	}{
		"unopened, last moment":  {process.Participant{Link: unopened}, InvitationTime, link},
		"expired":                {process.Participant{Link: unopened}, InvitationTime + time.Microsecond, ""},
		"expired, token removed": {process.Participant{Link: used}, 0, ""},
		"token not decrypted":    {process.Participant{Link: Link{InvitedAt: invited, Hash: unopened.Hash}}, 0, ""},
		"logged in":              {process.Participant{Link: used, Person: &Person{}}, 2 * InvitationTime, page},
		"signed":                 {process.Participant{Link: used, Person: &Person{}, Signature: &Signature{}}, 0, ""},
		"signed without a login": {process.Participant{Link: used, Signature: &Signature{}}, 0, ""},
		"declined":               {process.Participant{Link: used, Person: &Person{}, Decline: &Decline{}}, 0, ""},
		"viewer who logged in":   {process.Participant{Link: used, Person: &Person{}, Role: Viewer}, 0, page},
	} {
		test.one.ID = "a participant"
		p := Process{ID: "a process"}
		if got := p.Path(Participant{Participant: test.one}, invited.Add(test.after)); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// TestNewLink checks that links have different tokens of 256 bits, and are found by their hashes.
func TestNewLink(t *testing.T) {
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

// TestTurnIDs checks which texts are IDs of turns. [TestGoldenNames] has one that is.
func TestTurnIDs(t *testing.T) {
	for _, text := range []string{"", "a", "a/b", "a/b/c", "a/b/1/2", "a/b/99999999999999999999"} {
		if turn, err := parseTurnID(text); err == nil {
			t.Errorf("%q is %v", text, turn)
		}
	}
}
