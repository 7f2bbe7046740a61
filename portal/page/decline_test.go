package page

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/portal"
)

// What people write as a reason, and what is kept of it; a reason that cannot be kept is shown again with
// what is wrong.
func TestDeclineReason(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("þ", portal.MaxReason)
	for name, test := range map[string]struct{ said, kept, fault string }{
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
		"what is no UTF-8":       {"Nei\xff", "", "decline.fault.characters"},
		"too long, and HTML too": {"<b>" + full, "", "decline.fault.long"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			v := s.process()
			anna := s.browser(annas)
			a := anna.post(of(v, 0, "/decline"), "reason", test.said)
			got := s.now(v).Participants[0].Decline
			if test.fault != "" {
				a.says(t, http.StatusUnprocessableEntity, test.fault, "decline.title", "decline.means")
				if got != nil || strings.Contains(a.body, "<b>") || !strings.Contains(a.body, `aria-invalid="true"`) {
					t.Error(got, a.body)
				}
				return
			}
			a.says(t, http.StatusSeeOther)
			if a.location != of(v, 0) || got == nil || got.Reason != test.kept {
				t.Errorf("%s %+v", a.location, got)
			}
			shown := anna.get(of(v, 0))
			shown.says(t, http.StatusOK, "place.declined.own")
			if strings.Contains(shown.body, "<script>alert") || test.kept != "" && !strings.Contains(shown.text(), test.kept) {
				t.Error(shown.text())
			}
			for range 2 { // the form once more, from another tab or by the back button
				anna.post(of(v, 0, "/decline"), "reason", "another").says(t, http.StatusSeeOther)
				anna.follow(anna.get(of(v, 0, "/decline"))).says(t, http.StatusOK, "place.declined.own")
			}
			if again := s.now(v).Participants[0].Decline; *again != *got {
				t.Error(again)
			}
		})
	}
}

// To look at the form declines nothing, and shows again what was written.
func TestAskDecline(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	v := s.process()
	anna := s.browser(annas)
	a := anna.get(of(v, 0, "/decline"))
	a.says(t, http.StatusOK, "decline.means", "decline.reason.hint", "decline.button", "decline.back")
	s.isSafe(a, annas)
	if s.now(v).Participants[0].Decline != nil {
		t.Error("a GET declined")
	}
	wrote := "\n" + strings.Repeat("orð ", 100)
	if a := anna.post(of(v, 0, "/decline"), "reason", wrote); !strings.Contains(a.body, ">\n"+wrote+"</textarea>") {
		t.Error("what was written is lost")
	}
	anna.post(of(v, 0, "/decline"), "reason", strings.Repeat("x", maxFormSize)).says(t, http.StatusRequestEntityTooLarge)
}

// However often the button is pressed at once, it is declined once, with the reason of one of them.
func TestDeclineDoubleClick(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	v := s.process()
	b := s.browser(annas)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if a := b.post(of(v, 0, "/decline"), "reason", "nei"); a.status != http.StatusSeeOther || a.location != of(v, 0) {
				t.Error(a)
			}
		})
	}
	all.Wait()
	entries, err := s.db.EvidenceLog().Entries(t.Context(), v.ID)
	s.must(err)
	var declined int
	for _, e := range entries {
		if e.Kind == "participant.declined" {
			declined++
		}
	}
	if declined != 1 || s.now(v).Participants[0].Decline.Reason != "nei" {
		t.Errorf("declined %d times", declined)
	}
}

// Who may decline, and who comes to the page that tells why not.
func TestDeclineInEachState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before    func(*scene, portal.ProcessView)
		i         int
		kennitala string
		may       bool
		says      string // then
	}{
		"nobody has signed":    {func(*scene, portal.ProcessView) {}, 0, annas, true, "place.declined.own"},
		"another is signing":   {func(s *scene, v portal.ProcessView) { s.sign(v, 1, jons) }, 0, annas, true, "place.declined.own"},
		"another has signed":   {func(s *scene, v portal.ProcessView) { s.signs(v, 1, jons) }, 0, annas, true, "place.declined.own"},
		"the person signs":     {func(s *scene, v portal.ProcessView) { s.sign(v, 0, annas) }, 0, annas, false, "place.signing.title"},
		"the person signed":    {func(s *scene, v portal.ProcessView) { s.signs(v, 0, annas) }, 0, annas, false, "place.signed"},
		"another has declined": {func(s *scene, v portal.ProcessView) { s.declines(v, 1) }, 0, annas, false, "place.declined"},
		"it has expired":       {(*scene).expires, 0, annas, false, "place.expired"},
		"a viewer":             {func(*scene, portal.ProcessView) {}, 2, valas, false, "place.reading"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.users()
			v := s.process()
			test.before(s, v)
			b := s.browser(test.kennitala)
			status := http.StatusSeeOther
			if test.may {
				status = http.StatusOK
			}
			b.get(of(v, test.i, "/decline")).says(t, status)
			a := b.post(of(v, test.i, "/decline"), "reason", "ekki rétt")
			b.follow(a).says(t, http.StatusOK, test.says)
			if declined := s.now(v).Participants[test.i].Decline != nil; declined != test.may {
				t.Error("declined:", declined)
			}
		})
	}
}
