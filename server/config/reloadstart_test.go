package config

import (
	"strings"
	"testing"

	catest "github.com/innsigli/innsigli/internal/test/ca"
)

// What is taken at the start stays that of the start, and the log says when it was changed:
// the section, or a file that it names.
func TestReloadedAtStart(t *testing.T) {
	const (
		provider = "[identity-provider]\nissuer = \"https://idp.example\"\nclient-id = \"a\"\nclient-secret-file = \"secret\"\nkey = \"key.pem\"\n"
		login    = "[login]\nissuer = \"https://idp.example\"\nclient-id = \"a\"\nclient-secret-file = \"login-secret\"\n"
		all      = "[retention]\nevidence = \"10y\"\n[webhooks]\nmax-subscriptions = 7\n" + provider + login
	)
	r := newReload(t, "")
	catest.WriteSigner(t, r.file("."), catest.New(t)) // for key.pem
	r.write(t, "secret", "one\n")
	r.write(t, "login-secret", "one\n")
	r.configure(t, all)
	read, found := ReadFile(r.path)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	r.started = read.AtStart
	for _, test := range []struct {
		name    string
		file    string
		content string
		want    string // the section; "": nothing was changed
	}{
		{"a comment", "conf.toml", "# the same\n" + all, ""},
		{"the retention", "conf.toml", strings.Replace(all, "10y", "7y", 1), "retention"},
		{"the webhooks", "conf.toml", strings.Replace(all, "= 7", "= 8", 1), "webhooks"},
		{"their proxy", "conf.toml", strings.Replace(all, "= 7", "= 7\negress-proxy = \"http://proxy.example:3128\"", 1), "webhooks"},
		{"who mail is from", "conf.toml", all + "[mail]\nfrom = \"sign@example.is\"\n", "mail"},
		{"who is believed", "conf.toml", all + "[proxy]\ntrusted = [\"10.0.0.1\"]\n", "proxy"},
		{"the limits", "conf.toml", all + "[limits]\nclient-rate = 5\n", "limits"},
		{"the provider", "conf.toml", strings.Replace(all, "[login]", "delivery = \"ping\"\n[login]", 1), "identity-provider"},
		{"no provider", "conf.toml", strings.Replace(all, provider, "", 1), "identity-provider"},
		{"its secret", "secret", "two\n", "identity-provider"},
		{"the login", "conf.toml", all + "name-claim = \"nafn\"\n", "login"},
		{"its secret", "login-secret", "two\n", "login"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r.write(t, "secret", "one\n")
			r.write(t, "login-secret", "one\n")
			r.write(t, "conf.toml", all)
			r.write(t, test.file, test.content)
			r.log.Reset()
			r.load()
			const said = "changed section takes effect at the next start"
			if strings.Count(r.log.String(), said) != min(1, len(test.want)) || !strings.Contains(r.log.String(), "section="+test.want) && test.want != "" {
				t.Errorf("want the section %q:\n%s", test.want, &r.log)
			}
			if test.want != "" && !strings.Contains(SectionsAtStart, "["+test.want+"]") {
				t.Errorf("the help of serve does not name [%s]", test.want)
			}
		})
	}
}
