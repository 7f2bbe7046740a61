package page

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/portal"
)

// A reason is stored on one line. A reason that cannot be stored is shown again with what is wrong. A second decline
// changes nothing.
func TestDeclineReason(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("þ", portal.MaxReason)
	for name, test := range map[string]struct{ input, stored, fault string }{
		"nothing":                {"", "", ""},
		"a sentence":             {"Upphæðin er röng.", "Upphæðin er röng.", ""},
		"lines":                  {"  Upphæðin\r\n\r\ner\tröng. \n", "Upphæðin er röng.", ""},
		"white space":            {" \r\n\t ", "", ""},
		"HTML":                   {"<script>alert(1)</script>", "<script>alert(1)</script>", ""},
		"as long as it may be":   {full, full, ""},
		"spaces do not count":    {full[:2*200] + "  \r\n  " + full[:2*55], full[:2*200] + " " + full[:2*55], ""},
		"beyond the BMP":         {strings.Repeat("🖋", portal.MaxReason), strings.Repeat("🖋", portal.MaxReason), ""},
		"a character too long":   {full + "þ", "", "decline.fault.long"},
		"much too long":          {strings.Repeat("x", 15000), "", "decline.fault.long"},
		"a control character":    {"Nei\x00takk", "", "decline.fault.characters"},
		"an escape":              {"Nei\x1b[2J", "", "decline.fault.characters"},
		"invalid UTF-8":          {"Nei\xff", "", "decline.fault.characters"},
		"too long, and HTML too": {"<b>" + full, "", "decline.fault.long"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			v := s.opened()
			anna := s.browserOf(annas)
			a := anna.post(of(v, 0, "/decline"), "reason", test.input)
			got := s.stored(v).Participants[0].Decline
			if test.fault != "" {
				a.says(t, http.StatusUnprocessableEntity, test.fault, "decline.title", "decline.means").
					contains(t, `aria-invalid="true"`).lacks(t, "<b>")
				if got != nil {
					t.Error(got)
				}
				return
			}
			if a.leadsTo(t, of(v, 0)); got == nil || got.Reason != test.stored {
				t.Fatalf("%+v", got)
			}
			shown := anna.get(of(v, 0)).says(t, http.StatusOK, "place.declined.own").lacks(t, "<script>alert")
			if !strings.Contains(shown.text(), test.stored) {
				t.Error(shown.text())
			}
			for range 2 { // the form once more, from another tab or by the back button
				anna.post(of(v, 0, "/decline"), "reason", "another").says(t, http.StatusSeeOther)
				anna.follow(anna.get(of(v, 0, "/decline"))).says(t, http.StatusOK, "place.declined.own")
			}
			if again := s.stored(v).Participants[0].Decline; *again != *got {
				t.Error(again)
			}
		})
	}
}

// The form alone declines nothing. It shows wrong input again.
func TestDeclineForm(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	v := s.opened()
	anna := s.browserOf(annas)
	anna.get(of(v, 0, "/decline")).says(t, http.StatusOK, "decline.means", "decline.reason.hint", "decline.button", "decline.back").isSafe(t, annas)
	if s.stored(v).Participants[0].Decline != nil {
		t.Error("a GET declined")
	}
	input := "\n" + strings.Repeat("orð ", 100)
	anna.post(of(v, 0, "/decline"), "reason", input).contains(t, ">\n"+input+"</textarea>")
	anna.post(of(v, 0, "/decline"), "reason", strings.Repeat("x", maxFormSize)).says(t, http.StatusRequestEntityTooLarge)
}

// Many clicks at once decline once.
func TestDeclineDoubleClick(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	v := s.opened()
	b := s.browserOf(annas)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { b.post(of(v, 0, "/decline"), "reason", "nei").leadsTo(t, of(v, 0)) })
	}
	all.Wait()
	if declined := s.evidence(v, "participant.declined"); declined != 1 || s.stored(v).Participants[0].Decline.Reason != "nei" {
		t.Errorf("declined %d times", declined)
	}
}

// A signer may decline before signing, also while another signs. The page shows why others cannot.
func TestDeclineInEachState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before    func(*fixture, portal.ProcessView)
		i         int
		kennitala string
		may       bool
		says      string // then
	}{
		"no one has signed":    {func(*fixture, portal.ProcessView) {}, 0, annas, true, "place.declined.own"},
		"another is signing":   {func(s *fixture, v portal.ProcessView) { s.sign(v, 1, jons) }, 0, annas, true, "place.declined.own"},
		"another has signed":   {func(s *fixture, v portal.ProcessView) { s.signs(v, 1, jons) }, 0, annas, true, "place.declined.own"},
		"the person signs":     {func(s *fixture, v portal.ProcessView) { s.sign(v, 0, annas) }, 0, annas, false, "place.signing.title"},
		"the person signed":    {func(s *fixture, v portal.ProcessView) { s.signs(v, 0, annas) }, 0, annas, false, "place.signed"},
		"another has declined": {func(s *fixture, v portal.ProcessView) { s.declines(v, 1) }, 0, annas, false, "place.declined"},
		"it has expired":       {(*fixture).expire, 0, annas, false, "place.expired"},
		"a viewer":             {func(*fixture, portal.ProcessView) {}, 2, valas, false, "place.reading"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.users()
			v := s.opened()
			test.before(s, v)
			b := s.browserOf(test.kennitala)
			status := http.StatusSeeOther
			if test.may {
				status = http.StatusOK
			}
			b.get(of(v, test.i, "/decline")).says(t, status)
			a := b.post(of(v, test.i, "/decline"), "reason", "ekki rétt")
			b.follow(a).says(t, http.StatusOK, test.says)
			if declined := s.stored(v).Participants[test.i].Decline != nil; declined != test.may {
				t.Error("declined:", declined)
			}
		})
	}
}
