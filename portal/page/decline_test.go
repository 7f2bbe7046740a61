package page

import (
	"net/http"
	"strings"
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
