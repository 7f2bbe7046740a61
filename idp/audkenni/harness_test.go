package audkenni_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/idp/ciba"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// way is the network between a client and its provider, which can be broken. Each request has
// a connection of its own: one that was cut on a connection used before is repeated by net/http.
type way struct {
	http.Transport
	broken atomic.Bool
}

var errBroken = errors.New("the way is broken")

func (w *way) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.broken.Load() {
		return nil, errBroken
	}
	return w.Transport.RoundTrip(r)
}

// open returns the adapter to a provider.
func open(t testing.TB, p *openidtest.Provider, o audkenni.Options) (*audkenni.Provider, *way) {
	t.Helper()
	w := &way{Transport: http.Transport{DisableKeepAlives: true}}
	client, err := ciba.New(ciba.Options{
		Issuer: p.Issuer, Discovery: p.Discovery, ClientID: p.ClientID, Secret: p.Secret,
		Key: p.Key, KeyID: p.KeyID, HTTP: &http.Client{Transport: w},
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Client = client
	provider, err := audkenni.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return provider, w
}

// issuer issues the certificates of people.
var issuer = sync.OnceValues(func() (*sandboxca.Authority, error) { return sandboxca.NewP256(time.Now()) })

// certificate issues one that begins to be valid then.
func certificate(t testing.TB, name, kennitala string, key crypto.Signer, from time.Time) *x509.Certificate {
	t.Helper()
	ca, err := issuer()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(name, kennitala, key.Public(), from)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// renewedKey is of those who have renewed their certificate.
var renewedKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// renew gives a person another certificate, for another key.
func renew(t testing.TB, p *openidtest.Provider, person openidtest.Person) *x509.Certificate {
	t.Helper()
	key, err := renewedKey()
	if err != nil {
		t.Fatal(err)
	}
	cert := certificate(t, person.Name, person.Kennitala, key, time.Now())
	person.Key, person.Certificate = key, cert.Raw
	p.Person(person)
	return cert
}

// drawn counts the people of this process.
var drawn atomic.Int32

// somebody is a new person, whom the provider does not know yet.
func somebody(t testing.TB) openidtest.Person {
	t.Helper()
	n := drawn.Add(1)
	person := openidtest.Person{
		Kennitala: fmt.Sprintf("010130%04d", n), Phone: fmt.Sprintf("699%04d", n), Name: "Jóna Prófdóttir",
		Document: fmt.Sprintf("DEVICE-%d", n), Key: openidtest.RSAKey(),
	}
	person.Certificate = certificate(t, person.Name, person.Kennitala, person.Key, time.Now()).Raw
	return person
}

// named is the person as a client of the service names one.
func named(p openidtest.Person, m idp.Method) idp.Person {
	return idp.Person{Account: "account", Method: m, Kennitala: p.Kennitala, Phone: "+354 " + p.Phone}
}
