package audkenni_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/idp/ciba"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// network is the transport between a client and its provider, which can have a fault. Each request has a connection
// of its own, since net/http repeats a request that fails on a connection that was used before.
type network struct {
	http.Transport
	broken atomic.Bool
}

var errBroken = errors.New("the network is broken")

func (w *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.broken.Load() {
		return nil, errBroken
	}
	return w.Transport.RoundTrip(r)
}

// open returns an adapter for a provider.
func open(t testing.TB, p *openidtest.Provider, o audkenni.Options) (*audkenni.Provider, *network) {
	t.Helper()
	w := &network{Transport: http.Transport{DisableKeepAlives: true}}
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

// newPerson returns a new person, whom the provider does not know yet.
func newPerson(t testing.TB) openidtest.Person {
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

// talk is a conversation that has only the stored State between calls.
type talk struct {
	testing.TB
	provider idp.Provider
	method   idp.Method
	stored   []byte
	event    idp.Event
	need     idp.NeedDigest // the last
	digest   ades.Digest    // what Sign was called with last
	trail    []string       // the events
}

var text = idp.Text{Document: "Samningur um leigu.pdf", Reason: "Undirritun"}

// begin begins a conversation.
func begin(t testing.TB, provider idp.Provider, person idp.Person, known *x509.Certificate) *talk {
	t.Helper()
	c := &talk{TB: t, provider: provider, method: person.Method}
	c.note(provider.Begin(t.Context(), "conversation", person, text, known))
	return c
}

// step makes the call that follows the last event.
func (c *talk) step() {
	c.Helper()
	if _, ok := c.event.(idp.NeedDigest); !ok {
		c.note(c.provider.Poll(c.Context(), c.state()))
		return
	}
	c.note(c.sign(c.Context()))
}

// sign calls Sign with a new digest.
func (c *talk) sign(ctx context.Context) (idp.State, idp.Event, error) {
	c.digest = c.provider.Traits(c.method).Algorithm.Digest([]byte(rand.Text()))
	return c.provider.Sign(ctx, c.state(), []ades.Digest{c.digest})
}

// run continues to the end without waiting, since people answer immediately.
func (c *talk) run() *talk {
	c.Helper()
	for !c.over() {
		if _, waiting := c.event.(idp.Waiting); waiting && len(c.trail) > 20 {
			c.Fatalf("the person does not answer: %q", c.trail)
		}
		c.step()
	}
	return c
}

func (c *talk) over() bool {
	switch c.event.(type) {
	case idp.Signed, idp.Failed:
		return true
	}
	return false
}

func (c *talk) note(state idp.State, event idp.Event, err error) {
	c.Helper()
	if err != nil {
		c.Fatalf("after %q: %v", c.trail, err)
	}
	if c.stored, err = json.Marshal(state); err != nil {
		c.Fatal(err)
	}
	c.event = event
	switch e := event.(type) {
	case idp.Waiting:
		c.trail = append(c.trail, "waiting")
	case idp.Continue:
		c.trail = append(c.trail, "continue")
	case idp.NeedDigest:
		c.need, c.trail = e, append(c.trail, "digest")
	case idp.Signed:
		c.trail = append(c.trail, "signed")
	case idp.Failed:
		c.trail = append(c.trail, "failed "+string(e.Code))
	}
}

func (c *talk) state() idp.State {
	c.Helper()
	var state idp.State
	if err := json.Unmarshal(c.stored, &state); err != nil {
		c.Fatal(err)
	}
	return state
}

// verify verifies the value over its digest with its certificate.
func (c *talk) verify() {
	c.Helper()
	signed, ok := c.event.(idp.Signed)
	if !ok || len(signed.Values) != 1 {
		c.Fatalf("not signed: %q, %+v", c.trail, c.event)
	}
	if err := c.digest.Algorithm.Verify(c.need.Certificate.PublicKey, c.digest.Sum, signed.Values[0]); err != nil {
		c.Error(err)
	}
}

// failure returns the failure that ended the conversation.
func (c *talk) failure() idp.Failure {
	c.Helper()
	failed, ok := c.event.(idp.Failed)
	if !ok {
		c.Fatalf("not failed: %q, %+v", c.trail, c.event)
	}
	return failed.Failure
}
