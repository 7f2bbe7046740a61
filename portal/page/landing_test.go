package page

import (
	"crypto/sha256"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// Mail programs and scanners open links before people do. That stores nothing, asks no person, and leaves the link
// as it was.
func TestScannersChangeNothing(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	before := d.digest()
	scanner := d.newBrowser()
	scanner.get(d.link(0)).says(t, 200, "landing.sign")
	scanner.do(http.MethodHead, d.link(0), nil).says(t, 200)
	if scanner.cookie() != "" || d.digest() != before {
		t.Error("the store has changed")
	}
	d.wantAsked(0)
	d.newBrowser().logIn(d.link(0), anna).leadsTo(t, of(d.invited, 0))
	if d.digest() == before {
		t.Error("the digest does not show changes")
	}
}

// digest returns a hash of the whole store.
func (d *fixture) digest() [sha256.Size]byte {
	d.t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(d.t.TempDir()), "*", "test.db"))
	if err != nil || len(files) != 1 {
		d.t.Fatal(files, err)
	}
	content, err := os.ReadFile(files[0])
	d.must(err)
	return sha256.Sum256(content)
}

// A link tells nothing of the participant but the name, and the page of a participant nothing at all before the
// login.
func TestLinksTellLittle(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	for _, path := range []string{d.link(0), d.link(1), of(d.invited, 0)} {
		d.newBrowser().get(path).lacks(t, annas, localKennitala(annas), "5550101", "anna@example.is", "Vala")
	}
	d.loggedIn(0, anna)
	d.newBrowser().get(of(d.invited, 0)).lacks(t, "Anna", "Samningur", "Example")
}

// An expired link says so and names the sender. An unknown or deleted link tells nothing.
func TestInvalidLinks(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.newBrowser()
	login := []string{"way", "app", "kennitala", annas, "visit", newToken()}
	for _, token := range []string{"none", strings.Repeat("A", 43), strings.Repeat("x", 4000), "%3Cscript%3E"} {
		b.get("/sign/"+token).says(t, 404, "problem.notfound.title", "!problem.sender")
		b.post("/sign/"+token+"/login", login...).says(t, 404, "problem.notfound.title")
	}
	b.get(of(d.invited, 0, "x")).says(t, 404, "problem.notfound.title")
	b.post(of(d.invited, 1, "/login"), login...).says(t, 403, "problem.unopened.title") // its link has to be opened first
	d.update(d.invited, func(p *portal.Process) {
		link := &p.Participants[0].Link
		link.InvitedAt = link.InvitedAt.Add(-portal.InvitationTime - time.Hour)
	})
	b.get(d.link(0)).says(t, 410, "problem.expired.title", "problem.sender").contains(t, "Example &lt;b&gt;Ltd.&lt;/b&gt;")
	b.post(d.link(0)+"/login", login...).says(t, 410, "problem.expired.title")
	d.must(d.portal.Delete(t.Context(), d.account, d.invited.ID))
	b.get(d.link(0)).says(t, 404, "problem.notfound.title")
	d.wantAsked(0)
}

// A link of a process that waits for no signature any more shows why, and can still be opened.
func TestLinksOfEndedProcesses(t *testing.T) {
	t.Parallel()
	for key, change := range map[string]func(*portal.Process){
		"landing.declined": func(p *portal.Process) { p.Participants[1].Decline = &portal.Decline{Reason: "no"} },
		"landing.expired": func(p *portal.Process) {
			p.Participants[1].Link.InvitedAt = p.Participants[1].Link.InvitedAt.Add(-2 * portal.InvitationTime)
		},
		"landing.completed": func(p *portal.Process) {
			for i := range 2 {
				p.Participants[i].Signature = &portal.Signature{Name: "x"}
			}
		},
	} {
		d := newInvitation(t)
		d.update(d.invited, change)
		d.newBrowser().get(d.link(2)).says(t, 200, key, "landing.read")
		d.newBrowser().logIn(d.link(2), anna).leadsTo(t, of(d.invited, 2))
	}
}

// The first person to log in opens a link without a kennitala. Others are told that the page is another person's.
func TestFirstPersonOpensLink(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	first, second := d.newBrowser(), d.newBrowser()
	form := formID(second.get(d.link(1)).body)
	first.logIn(d.link(1), jon).leadsTo(t, of(d.invited, 1))
	second.post(d.link(1)+"/login", "way", "app", "kennitala", annas, "visit", form).leadsTo(t, of(d.invited, 1))
	second.logIn(of(d.invited, 1), anna).says(t, 403, "ended.other.title")
	second.get(of(d.invited, 1)).says(t, 200, "login.see")
}

// A server without a login says so on both pages with a login form, names who helps, and refuses the form.
func TestServerWithoutLogin(t *testing.T) {
	t.Parallel()
	d := newInvitation(t, func(c *Config) { c.Login, c.Operator.Contact = nil, "mailto:help@example.is" })
	d.open(d.invited, 0, anna)
	for path, title := range map[string]string{d.link(1): "landing.sign.title", of(d.invited, 0): "login.title"} {
		for _, lang := range languages {
			a := d.newBrowser().get(path, "Accept-Language", lang).says(t, http.StatusOK)
			a.contains(t, words().text(lang, title), words().text(lang, "login.none"), words().text(lang, "problem.help")).
				lacks(t, "<form", words().text(lang, "login.see"))
			if strings.Count(a.body, "mailto:help@example.is") != 2 {
				t.Errorf("%s in %q: %s", path, lang, a.body)
			}
		}
		for _, method := range []LoginMethod{App, SIM, Browser} {
			d.newBrowser().post(path+"/login", "way", string(method), "kennitala", annas, "phone", "5550101", "visit", newToken()).
				says(t, http.StatusBadRequest, "problem.form.title")
		}
	}
}

// Wrong input on the page of a participant is corrected on that page.
func TestLoginFormIsCorrected(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	d.loggedIn(0, anna)
	b := d.newBrowser()
	b.begin(of(d.invited, 0), "way", "sim", "phone", "1").says(t, 422, "login.see", "login.phone.fault").
		contains(t, `action="`+of(d.invited, 0)+`/login"`)
	b.post(d.link(1)+"/login", "way", "continue").leadsTo(t, d.link(1)) // without a session
}

// After a failed login the form has its input again, in the same browser and for the same page only.
func TestLoginFormIsFilledAgain(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.newBrowser()
	for _, test := range []struct{ method, field, value string }{{"app", "kennitala", annas}, {"sim", "phone", "5550101"}} {
		d.login.answer(test.value, reply{err: ErrUnknown})
		b.begin(d.link(0), "way", test.method, test.field, test.value)
		b.get(d.link(0)).contains(t, `value="`+test.value+`"`, `value="`+test.method+`" checked`)
		b.get(d.link(1)).lacks(t, `value="`+test.value+`"`)
		d.newBrowser().get(d.link(0)).lacks(t, `value="`+test.value+`"`)
	}
}
