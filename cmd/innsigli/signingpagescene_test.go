package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/server"

	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	"github.com/innsigli/innsigli/portal/page"
)

// startPages runs a server in production whose signing page browsers reach, with an OpenID provider on
// whose pages two people log in.
func startPages(t *testing.T, sections string) *production {
	t.Helper()
	p := newProduction(t, installed(t), "", "--config", "innsigli.toml")
	p.ca = catest.New(t)
	p.relay(t)
	p.flags = append(p.flags, "--base-url", p.relayed.URL)
	p.provider = openidtest.Start(t, openidtest.Options{Redirects: []string{p.relayed.URL + server.LoginPath}})
	p.keepsToItself(t)
	p.configure(t, productionOptions{})
	p.write(t, "innsigli.toml", append(testenv.ReadFile(t, filepath.Join(p.folder, "innsigli.toml")), sections...))
	p.run(t)
	p.client = p.account(t, p.store)
	p.pays(t)
	for _, who := range people[:2] {
		p.person(t, who, openidtest.Answer{})
	}
	return p
}

// pays gives the account a payment method, for more documents than are free.
func (p *production) pays(t *testing.T) {
	t.Helper()
	list := strings.Split(output(t, done, "account", "list", "--store", p.store), "\n")
	account, _, _ := strings.Cut(list[1], " ")
	output(t, done, "account", "payment-method", account, "on", "--store", p.store)
}

// tells wants no credential of a visitor's or of an invitation in a log.
func (p *production) tells(t *testing.T, v *visitor, made processReply) {
	t.Helper()
	var secrets []string
	for _, one := range made.Participants {
		secrets = append(secrets, strings.TrimPrefix(*one.SigningURL, p.relayed.URL+"/sign/"), "/sign/"+made.ProcessID, one.ID)
	}
	for _, cookie := range v.http.Jar.Cookies(v.address) {
		secrets = append(secrets, cookie.Value)
	}
	log := p.logs()
	for _, secret := range secrets {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in a log:\n%s", secret, log)
		}
	}
}

// invite makes a process of two, of whom the second's place is that of the second person alone.
func (p *production) invite(t *testing.T) processReply {
	t.Helper()
	return p.client.createProcess(t, inviteText(t, document,
		invitee{Name: "Anna", Email: "anna@example.is", Role: "Signer"},
		invitee{Name: "Jón", Email: "jon@example.is", Role: "Signer", Kennitala: people[1].kennitala},
	)).processReply
}

// link is the one that a participant was invited with.
func (p processReply) link(participant int) string { return *p.Participants[participant].SigningURL }

// signs has somebody sign on the page that is shown, and wait for the signature.
func (v *visitor) signs(values ...string) {
	v.Helper()
	path := v.address.Path + "/sign"
	v.submit(path, values...)
	v.wait()
	if v.status != http.StatusOK || strings.Contains(v.page, `action="`+path+`"`) {
		v.Fatalf("not signed: status %d\n%s", v.status, v.page)
	}
}

// provided goes to the provider and stops a browser before it comes back from there. It returns the
// address that it would come back to.
func (v *visitor) provided(link string) (back string) {
	v.Helper()
	v.http.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path != server.LoginPath {
			return nil
		}
		back = r.URL.String()
		return http.ErrUseLastResponse
	}
	v.open(link)
	v.logIn("way", string(page.Browser))
	v.http.CheckRedirect = nil
	if back == "" {
		v.Fatalf("the provider does not send the browser back: %s, status %d\n%s", v.address, v.status, v.page)
	}
	return back
}

// strange wants a page that shows nothing, and the links as they were.
func (v *visitor) strange(p *production, made processReply) {
	v.Helper()
	if strings.Contains(v.page, documentName) || v.status >= http.StatusInternalServerError {
		v.Errorf("%s: status %d\n%s", v.address, v.status, v.page)
	}
	for i, one := range p.client.process(v.T, made.ProcessID).Participants {
		if one.SigningURL == nil || *one.SigningURL != made.link(i) {
			v.Errorf("the link of participant %d was used up", i)
		}
	}
}
