package page

import (
	"net/http"
	"strings"
	"testing"
)

// A server where nobody can log in says so at the link and at the participant's page, in both languages,
// and says who helps. There is no form, and what is sent all the same comes to nothing.
func TestNobodyCanLogIn(t *testing.T) {
	t.Parallel()
	d := newDoor(t, func(c *Config) { c.Login, c.Operator.Contact = nil, "mailto:help@example.is" })
	_, _, err := d.portal.Login(t.Context(), strings.TrimPrefix(d.link(0), "/sign/"), anna)
	d.must(err)
	for path, title := range map[string]string{d.link(1): "landing.sign.title", of(d.made, 0): "login.title"} {
		for _, lang := range languages {
			b := d.tab()
			b.header["Accept-Language"] = lang
			a := b.get(path)
			for _, key := range []string{title, "login.none", "problem.help"} {
				if !strings.Contains(a.text(), words.text(lang, key)) {
					t.Errorf("%s in %q: %d, without %s: %s", path, lang, a.status, key, a.text())
				}
			}
			if a.status != http.StatusOK || strings.Count(a.body, "mailto:help@example.is") != 2 || strings.Contains(a.body, "<form") || strings.Contains(a.text(), words.text(lang, "login.see")) {
				t.Errorf("%s in %q: %d %s", path, lang, a.status, a.body)
			}
		}
		for _, way := range []LoginMethod{App, SIM, Browser} {
			d.tab().post(path+"/login", "way", string(way), "kennitala", annas, "phone", "5550101", "visit", newToken()).
				says(t, http.StatusBadRequest, "problem.form.title")
		}
	}
	if len(d.faults) > 0 {
		t.Error(d.faults)
	}
}

// A login that was begun when there was another configuration is refused.
func TestLoginsEndWithTheirConfiguration(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	onPhone, elsewhere := d.tab(), d.tab()
	onPhone.begin(d.link(0), "way", "app", "kennitala", annas)
	elsewhere.begin(d.link(1), "way", "browser")
	d.page.config.Login = noLogin{}
	onPhone.wait()
	onPhone.get(loginPath).says(t, 200, "ended.refused.title")
	elsewhere.open("/sign/back?state="+visitOf(elsewhere).Login.State.state()).says(t, 200, "ended.refused.title")
}
