package main

import (
	"cmp"
	"crypto"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/httpapi"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/storage/sealed"
)

// production is "innsigli serve --environment production" with all that it needs: an OpenID
// provider, a certification and timestamp authority, and an account with a client.
type production struct {
	*sandboxProcess
	client   *client // of the account, with a token
	provider *openidtest.Provider
	ca       *sandboxca.Authority // of people's certificates and of timestamps
	tsa      string               // its address
	program  string
	folder   string // with innsigli.toml and the files that it names
	store    string
	flags    []string          // beside those of every server in production
	ended    []*sandboxProcess // those before, for their logs
	relayed  *httptest.Server  // where pings go, and on to the server that there is
	current  atomic.Value      // its address, a string: what comes to relayed comes at any time
}

// productionOptions are what a test wants to be otherwise.
type productionOptions struct {
	provider    openidtest.Options
	ping        bool     // the provider tells its news
	store       string   // a --store; "": a file in the folder
	keys        string   // lines of [identity-provider] beside the usual ones
	sections    string   // of the configuration, beside the usual ones
	environment []string // of the program
	secret      string   // of the client; "": as the provider knows it
}

// startProduction makes a world and runs the program in it.
func startProduction(t *testing.T, program string, o productionOptions) *production {
	t.Helper()
	p := newProduction(t, program, o.store, "--config", "innsigli.toml")
	p.ca = catest.New(t)
	if o.ping {
		p.relay(t)
		o.provider.Notify, o.keys = p.relayed.URL+httpapi.NotificationPath, o.keys+"delivery = \"ping\"\n"
	}
	p.provider = openidtest.Start(t, o.provider)
	p.keepsToItself(t)
	p.configure(t, o)
	p.run(t, o.environment...)
	p.client = p.account(t, p.store)
	return p
}

// newProduction is a folder with a master key.
func newProduction(t *testing.T, program, store string, flags ...string) *production {
	t.Helper()
	p := &production{program: program, folder: shortFolder(t), flags: flags}
	p.store = cmp.Or(store, "bolt:"+filepath.Join(p.folder, "store.db"))
	if err := sealed.MakeFile(filepath.Join(p.folder, "master.key")); err != nil {
		t.Fatal(err)
	}
	return p
}

// configure writes the configuration.
func (p *production) configure(t *testing.T, o productionOptions) {
	t.Helper()
	if p.tsa == "" {
		p.tsa = catest.Serve(t, p.ca) + sandboxca.PathTimestamp
	}
	p.write(t, "root.pem", p.ca.RootPEM())
	p.write(t, "secret.txt", []byte(cmp.Or(o.secret, p.provider.Secret)+"\n"))
	p.write(t, "idp-key.pem", certtest.PEMKey(t, p.provider.Key))
	p.write(t, "innsigli.toml", fmt.Appendf(nil, `
[trust]
roots = ["root.pem"]
private-addresses = ["127.0.0.0/8"]

[[timestamp]]
url = %q

[identity-provider]
issuer = %q
discovery = %q
client-id = %q
client-secret-file = "secret.txt"
key = "idp-key.pem"
key-id = %q
%s
%s
%s`, p.tsa, p.provider.Issuer, p.provider.Discovery, p.provider.ClientID, p.provider.KeyID, o.keys, o.sections, p.login(o)))
}

// login is a [login] at the same provider, unless the options have one.
func (p *production) login(o productionOptions) string {
	if strings.Contains(o.sections, "[login]") {
		return ""
	}
	return fmt.Sprintf("[login]\nissuer = %q\ndiscovery = %q\nclient-id = %q\nclient-secret-file = \"secret.txt\"\nacr-values = [\"app-auth\"]\n",
		p.provider.Issuer, p.provider.Discovery, p.provider.ClientID)
}

func (p *production) write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// run starts the program, for the first time or after it has ended. The client goes on
// with its token.
func (p *production) run(t *testing.T, environment ...string) {
	t.Helper()
	if p.sandboxProcess != nil {
		p.ended = append(p.ended, p.sandboxProcess)
	}
	flags := []string{"--environment", "production", "--base-url", "http://localhost", "--store", p.store, "--master-key-file", "master.key", "--log-level", "debug"}
	p.sandboxProcess = serveIn(t, p.program, p.folder, environment, append(flags, p.flags...)...)
	p.current.Store(p.BaseURL)
	if p.client != nil {
		p.client.base = p.BaseURL
	}
}

// relay has an address that stays while servers come and go.
func (p *production) relay(t *testing.T) {
	p.current.Store("http://localhost") // no server, before there is one
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		to, err := url.Parse(p.current.Load().(string))
		if err != nil {
			t.Error(err)
			return
		}
		r.SetURL(to)
	}}
	p.relayed = httptest.NewServer(http.HandlerFunc(proxy.ServeHTTP))
	t.Cleanup(p.relayed.Close)
}

// logs are what all servers so far have written.
func (p *production) logs() string {
	var all strings.Builder
	for _, one := range append(p.ended, p.sandboxProcess) {
		all.WriteString(one.talk() + "\n")
	}
	return all.String()
}

// person makes a person whom the provider can ask, with a certificate of the authority's.
func (p *production) person(t *testing.T, who person, answer openidtest.Answer) openidtest.Person {
	t.Helper()
	key := openidtest.RSAKey()
	one := openidtest.Person{
		Kennitala: who.kennitala, Phone: who.phone, Name: who.name, Document: "PNOIS-" + who.kennitala + "-TEST-Q",
		Certificate: p.certificate(t, who, key), Key: key, Answer: answer,
	}
	p.provider.Person(one)
	return one
}

// certificate is one of the authority's.
func (p *production) certificate(t *testing.T, who person, key crypto.Signer) []byte {
	t.Helper()
	cert, err := p.ca.Issue(who.name, who.kennitala, key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return cert.Raw
}

// finish polls at the pace of production until the request has ended.
func (p *production) finish(t *testing.T, id string) (a reply) {
	t.Helper()
	testenv.Wait(t, "the end of "+id, func() bool {
		a = p.poll(t, id)
		if a.ErrorCode != "AuthorizationPending" && a.ErrorCode != "SlowDown" && !(a.Status == http.StatusServiceUnavailable && a.RetryAfter != "") {
			return true
		}
		pause(2 * time.Second)
		return false
	})
	return a
}
