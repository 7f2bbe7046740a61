package page

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// Whoever opens a link and logs in has the place, and is led to its page, from any browser.
func TestLogin(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	b.get(d.link(0)).says(t, 200, "landing.sign", "landing.unchanged", "login.ways")
	a := b.begin(d.link(0), "way", "app", "kennitala", "010130-2989")
	if a.status != http.StatusSeeOther || a.location != loginPath {
		t.Fatal(a.status, a.location)
	}
	b.get(loginPath).says(t, 200, "wait.compare", "wait.until", "!wait.trouble")
	if body := b.get(loginPath).body; !strings.Contains(body, "4711") || strings.Contains(body, annas) {
		t.Error(body)
	}
	before := b.cookie()
	d.phones.answer(annas, reply{who: anna})
	b.wait()
	a = b.get(loginPath)
	if a.location != of(d.made, 0) {
		t.Fatal(a.status, a.location, a.text())
	}
	if b.cookie() == before {
		t.Error("the cookie of before the login is good after it")
	}
	b.open(of(d.made, 0)).says(t, 200, "place.asked.title")

	// the link leads on, to a page that needs a login
	if a := b.get(d.link(0)); a.location != of(d.made, 0) {
		t.Error(a.status, a.location)
	}
	other := d.tab()
	other.open(d.link(0)).says(t, 200, "login.see", "!landing.file")
	if a := other.login(of(d.made, 0), anna); a.location != of(d.made, 0) {
		t.Error(a.status, a.location, a.text())
	}
	if len(d.faults) > 0 {
		t.Error(d.faults)
	}
}

// The ways to log in, with what people type, and what the provider is asked for.
func TestWaysToLogIn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		form []string
		hint string // empty: nobody is asked
		says string
	}{
		"kennitala":            {[]string{"way", "app", "kennitala", annas}, annas, ""},
		"with a hyphen":        {[]string{"way", "app", "kennitala", " 010130-2989 "}, annas, ""},
		"phone":                {[]string{"way", "sim", "phone", "5550101"}, "5550101", ""},
		"phone from abroad":    {[]string{"way", "sim", "phone", "+354 555 0101"}, "5550101", ""},
		"no kennitala":         {[]string{"way", "app", "phone", "5550101"}, "", "login.kennitala.fault"},
		"a short kennitala":    {[]string{"way", "app", "kennitala", "010130298"}, "", "login.kennitala.fault"},
		"letters":              {[]string{"way", "app", "kennitala", "010130298x"}, "", "login.kennitala.fault"},
		"digits of elsewhere":  {[]string{"way", "app", "kennitala", "٠١٠١٣٠٢٩٨٩"}, "", "login.kennitala.fault"},
		"a long phone number":  {[]string{"way", "sim", "phone", "55501011"}, "", "login.phone.fault"},
		"no phone number":      {[]string{"way", "sim", "kennitala", annas}, "", "login.phone.fault"},
		"no way":               {[]string{"kennitala", annas}, "", "problem.form"},
		"a way that is none":   {[]string{"way", "fax", "kennitala", annas}, "", "problem.form"},
		"<script> for a phone": {[]string{"way", "sim", "phone", `"><script>alert(1)</script>`}, "", "login.phone.fault"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			b := d.tab()
			a := b.begin(d.link(0), test.form...)
			if test.hint != "" {
				if a.location != loginPath || d.phones.rings() != 1 || d.phones.rung[0] != test.hint {
					t.Error(a.status, a.location, a.text(), d.phones.rung)
				}
				return
			}
			status := http.StatusUnprocessableEntity
			if test.says == "problem.form" {
				status, test.says = http.StatusBadRequest, "problem.form.title"
			}
			a.says(t, status, test.says)
			if d.phones.rings() != 0 || b.cookie() != "" || strings.Contains(a.body, "<script>alert") {
				t.Error(d.phones.rung, b.cookies, a.body)
			}
			if status == http.StatusUnprocessableEntity && test.form[3] != "" && !strings.Contains(a.body, `aria-invalid="true"`) {
				t.Error(a.body)
			}
		})
	}
}

// Whoever logs in first takes a place that is nobody's; the next one is told that it is another's.
func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	first, second := d.tab(), d.tab()
	first.get(d.link(1))
	second.get(d.link(1))
	visit := visitIn(second.get(d.link(1)).body)
	if a := first.login(d.link(1), jon); a.location != of(d.made, 1) {
		t.Fatal(a.status, a.text())
	}
	// what the second has open still says that anybody may
	a := second.post(d.link(1)+"/login", "way", "app", "kennitala", annas, "visit", visit)
	if a.location != of(d.made, 1) {
		t.Fatal(a.status, a.location)
	}
	second.login(of(d.made, 1), anna).says(t, 403, "ended.other.title")
	second.get(of(d.made, 1)).says(t, 200, "login.see")
}

// Links that are no more say so, and those that never were say nothing.
func TestLinksThatAreNotGood(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	for _, token := range []string{"none", strings.Repeat("A", 43), strings.Repeat("x", 4000), "%3Cscript%3E"} {
		b.get("/sign/"+token).says(t, 404, "problem.notfound.title")
		b.post("/sign/"+token+"/login", "way", "app", "kennitala", annas, "visit", newToken()).says(t, 404, "problem.notfound.title")
	}
	b.get(of(d.made, 0)).says(t, 403, "problem.unopened.title")
	b.get(of(d.made, 0, "x")).says(t, 404, "problem.notfound.title")
	d.expire(0)
	b.get(d.link(0)).says(t, 410, "problem.expired.title")
	b.post(d.link(0)+"/login", "way", "app", "kennitala", annas, "visit", newToken()).says(t, 410, "problem.expired.title")
	d.must(d.portal.Delete(t.Context(), d.account, d.made.ID))
	b.get(d.link(0)).says(t, 404, "problem.notfound.title")
	if d.phones.rings() != 0 {
		t.Error(d.phones.rung)
	}
}

// expire has the time of an invitation pass.
func (d *door) expire(i int) {
	d.t.Helper()
	d.alter(func(p *portal.Process) {
		p.Participants[i].Link.InvitedAt = p.Participants[i].Link.InvitedAt.Add(-portal.InvitationTime - time.Hour)
	})
}

// The form of a participant's page is corrected on it.
func TestLoginAgainIsCorrected(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.loggedIn(0, anna)
	b := d.tab()
	a := b.begin(of(d.made, 0), "way", "sim", "phone", "1")
	a.says(t, 422, "login.see", "login.phone.fault")
	if !strings.Contains(a.body, `action="`+of(d.made, 0)+`/login"`) {
		t.Error(a.body)
	}
	if a := b.post(d.link(1)+"/login", "way", "continue"); a.location != d.link(1) { // as nobody
		t.Error(a.status, a.location)
	}
}
