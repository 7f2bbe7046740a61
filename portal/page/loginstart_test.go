package page

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// The login form accepts what people enter, and the provider gets it in one form. Wrong input is not sent to the
// provider.
func TestLoginForm(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		form []string
		hint string // empty: the form is refused
		says string
	}{
		"kennitala":             {[]string{"way", "app", "kennitala", annas}, annas, ""},
		"with a hyphen":         {[]string{"way", "app", "kennitala", " 010130-2989 "}, annas, ""},
		"phone":                 {[]string{"way", "sim", "phone", "5550101"}, "5550101", ""},
		"phone from abroad":     {[]string{"way", "sim", "phone", "+354 555 0101"}, "5550101", ""},
		"no kennitala":          {[]string{"way", "app", "phone", "5550101"}, "", "login.kennitala.fault"},
		"a short kennitala":     {[]string{"way", "app", "kennitala", "010130298"}, "", "login.kennitala.fault"},
		"letters":               {[]string{"way", "app", "kennitala", "010130298x"}, "", "login.kennitala.fault"},
		"Arabic digits":         {[]string{"way", "app", "kennitala", "٠١٠١٣٠٢٩٨٩"}, "", "login.kennitala.fault"},
		"a long phone number":   {[]string{"way", "sim", "phone", "55501011"}, "", "login.phone.fault"},
		"no phone number":       {[]string{"way", "sim", "kennitala", annas}, "", "login.phone.fault"},
		"no method":             {[]string{"kennitala", annas}, "", "problem.form"},
		"a method that is none": {[]string{"way", "fax", "kennitala", annas}, "", "problem.form"},
		"<script> for a phone":  {[]string{"way", "sim", "phone", `"><script>alert(1)</script>`}, "", "login.phone.fault"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newInvitation(t)
			b := d.newBrowser()
			a := b.begin(d.link(0), test.form...).lacks(t, "<script>alert")
			if test.hint != "" {
				a.leadsTo(t, loginPath)
				if d.wantAsked(1); d.login.asked[0] != test.hint {
					t.Error(d.login.asked)
				}
				return
			}
			if test.says == "problem.form" {
				a.says(t, http.StatusBadRequest, "problem.form.title")
			} else {
				a.says(t, http.StatusUnprocessableEntity, test.says).contains(t, `aria-invalid="true"`)
			}
			if d.wantAsked(0); b.cookie() != "" {
				t.Error("a refused form sets a cookie")
			}
		})
	}
}

// A form that is sent several times at once begins one login, which all tabs show and which completes in each. A
// corrected form begins another one.
func TestLoginFormIsSentManyTimes(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		d.login.takes(50 * time.Millisecond)
		form := formID(d.newBrowser().get(d.link(0)).body)
		tabs := make([]*browser, 16)
		var all sync.WaitGroup
		for i := range tabs {
			tabs[i] = d.newBrowser()
			all.Go(func() {
				tabs[i].post(d.link(0)+"/login", "way", "app", "kennitala", annas, "visit", form).leadsTo(t, loginPath)
			})
		}
		all.Wait()
		d.wantAsked(1)
		for _, b := range tabs {
			if b.get(loginPath).says(t, 200, "wait.compare"); b.cookie() != tabs[0].cookie() {
				t.Error("two sessions of one form")
			}
		}
		d.login.answer(annas, reply{person: anna})
		tabs[0].letPoll()
		for _, b := range tabs {
			all.Go(func() {
				a := b.get(loginPath)
				for range 100 {
					if a.location != "" {
						break
					}
					time.Sleep(20 * time.Millisecond)
					a = b.get(loginPath)
				}
				a.leadsTo(t, of(d.invited, 0))
			})
		}
		all.Wait()
		b := d.newBrowser()
		form = formID(b.get(d.link(1)).body)
		b.post(d.link(1)+"/login", "way", "app", "kennitala", annas, "visit", form)
		b.post(d.link(1)+"/login", "way", "app", "kennitala", jons, "visit", form)
		d.wantAsked(3)
	})
}

// The ID of a form, which is in the page, is not the cookie of the login. Sent after a while, or with other input,
// the form does not lead to the login of another browser.
func TestFormIDIsNotTheCookie(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.newBrowser()
		form := formID(b.get(d.link(0)).body)
		send := func(b *browser, kennitala string) {
			b.post(d.link(0)+"/login", "way", "app", "kennitala", kennitala, "visit", form)
		}
		send(b, annas)
		reader := d.withCookie(form)
		if reader.get(loginPath).says(t, 403, "problem.nobody.title"); b.cookie() == form {
			t.Error("the cookie is in the page")
		}
		time.Sleep(formWindow)
		send(reader, annas)
		if d.wantAsked(2); reader.cookie() == b.cookie() {
			t.Error("an old form opens another browser's login")
		}
		other := d.newBrowser()
		send(other, jons)
		if d.wantAsked(3); other.cookie() == reader.cookie() {
			t.Error("a form opens the login of another person")
		}
		b.get(loginPath).says(t, 200, "wait.compare")
	})
}
