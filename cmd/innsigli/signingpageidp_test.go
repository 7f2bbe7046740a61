package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	"github.com/innsigli/innsigli/portal/page"
)

// People log in on the provider's pages, read and sign.
func TestLoginOnTheProvidersPages(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "")
	made := p.invite(t)
	for i, who := range people[:2] {
		p.provider.Login(who.kennitala)
		v := newVisitor(t)
		v.open(made.link(i))
		v.sees(http.StatusOK, "Example", documentName)
		v.logIn("way", string(page.Browser))
		v.at(made, i)
		v.sees(http.StatusOK, documentName, "/pages/1/")
		v.signs("method", "IdpApp")
		v.sees(http.StatusOK, who.kennitala[:6]+"-"+who.kennitala[6:])
		p.tells(t, v, made)
	}
	for i, one := range p.client.process(t, made.ProcessID).Participants {
		if one.Status != "Completed" {
			t.Errorf("participant %d: %s\n%s", i, one.Status, p.logs())
		}
	}
}

// What a browser brings back counts as the provider gave it.
func TestForeignAnswersOfTheProvider(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "")
	p.provider.Login(people[0].kennitala)
	for name, change := range map[string]func(url.Values){
		"another state":  func(q url.Values) { q.Set("state", "another") },
		"no state":       func(q url.Values) { q.Del("state") },
		"another issuer": func(q url.Values) { q.Set("iss", "https://idp.example") },
		"two codes":      func(q url.Values) { q.Add("code", "another") },
		"another code":   func(q url.Values) { q.Set("code", "another") },
		"nothing":        func(q url.Values) { clear(q) },
	} {
		t.Run(name, func(t *testing.T) {
			made, v := p.invite(t), newVisitor(t)
			back, err := url.Parse(v.provided(made.link(0)))
			if err != nil {
				t.Fatal(err)
			}
			query := back.Query()
			change(query)
			back.RawQuery = query.Encode()
			v.open(back.String())
			v.strange(p, made)
		})
	}
}

// It counts once, and in the browser that went for it.
func TestAnswersOfTheProviderCountOnce(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "")
	p.provider.Login(people[0].kennitala)
	made, v, other := p.invite(t), newVisitor(t), newVisitor(t)
	back := v.provided(made.link(0))
	other.open(back)
	other.strange(p, made)
	busy := newVisitor(t)
	busy.provided(made.link(1))
	busy.open(back) // of another login
	busy.strange(p, made)

	v.open(back)
	v.at(made, 0)
	v.sees(http.StatusOK, documentName)
	v.open(back)
	if v.status >= http.StatusInternalServerError {
		t.Errorf("replayed: status %d\n%s", v.status, v.page)
	}
	v.open(made.link(0)) // which leads on
	v.at(made, 0)
	other.open(back)
	if strings.Contains(other.page, documentName) || other.status >= http.StatusInternalServerError {
		t.Errorf("replayed in another browser: status %d\n%s", other.status, other.page)
	}
	other.open(v.address.String())
	if strings.Contains(other.page, documentName) {
		t.Errorf("the page without a login: status %d\n%s", other.status, other.page)
	}
}

// A place with a kennitala is that of this person alone, whatever the provider's pages or phones say,
// and whoever has logged in sees no place but their own.
func TestAnotherPersonsPlace(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "")
	p.provider.Login(people[0].kennitala)
	made, v := p.invite(t), newVisitor(t)
	v.open(made.link(1))
	v.logIn("way", string(page.Browser))
	v.strange(p, made)
	v.sees(http.StatusForbidden)
	if strings.Contains(v.page, people[1].kennitala) || strings.Contains(v.page, people[1].kennitala[:6]) {
		t.Errorf("it says whose place it is:\n%s", v.page)
	}
	p.provider.Login(people[1].kennitala)
	v = newVisitor(t) // whom the provider does not remember
	v.open(made.link(1))
	v.logIn("way", string(page.Browser))
	v.at(made, 1)
	v.open(p.relayed.URL + "/sign/" + made.ProcessID + "/" + made.Participants[0].ID)
	if strings.Contains(v.page, documentName) {
		t.Errorf("the place of somebody else: status %d\n%s", v.status, v.page)
	}
}

// Where [login.phone] says so, people log in on their phones, with the app and with the SIM.
func TestLoginOnThePhone(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "key = \"idp-key.pem\"\nkey-id = \"test-2026\"\n[login.phone]\n")
	made := p.invite(t)
	for i, form := range [][]string{
		{"way", string(page.App), "kennitala", people[0].kennitala[:6] + "-" + people[0].kennitala[6:]},
		{"way", string(page.SIM), "phone", "+354 " + people[1].phone},
	} {
		v := newVisitor(t)
		v.open(made.link(i))
		v.logIn(form...)
		v.at(made, i)
		v.sees(http.StatusOK, documentName)
	}
	refused := openidtest.Answer{Error: &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}}
	p.person(t, people[0], refused)
	again, v := p.invite(t), newVisitor(t)
	v.open(again.link(0))
	v.logIn("way", string(page.App), "kennitala", people[0].kennitala)
	v.strange(p, again)
	v.open(again.link(0))
	v.logIn("way", string(page.App), "kennitala", "0104302959") // whom nobody knows
	v.strange(p, again)
}
