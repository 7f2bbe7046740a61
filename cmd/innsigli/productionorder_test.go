package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// A document's name and a reason that stand nowhere else. The character behind shownName is one
// to a reader and seven of Unicode's: of 60 there is no room for it.
const (
	shownName = "Leigusamningur um húsnæði að Ægisgötu 7, Þórshöfn á Langa"
	longName  = shownName + "👨‍👩‍👧‍👦.pdf"
	reason    = "Samþykki leigjanda"
)

// order is what a client asks for.
type order struct {
	person
	method, level string
}

func (o order) body() string {
	body := map[string]any{
		"file":   map[string]any{"type": "Pdf", "name": longName, "contentB64": document},
		"signer": map[string]any{"kennitala": o.kennitala, "phone": o.phone, "signingMethod": o.method, "reason": reason},
	}
	if o.level != "" {
		body["advancedSignatureSettings"] = map[string]any{"signatureLevel": o.level}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // it is of texts
	}
	return string(text)
}

// order makes a start call, whatever it comes to.
func (p *production) order(t *testing.T, o order) reply {
	t.Helper()
	a, err := p.client.call(t.Context(), http.MethodPost, "/api/v1/signing", strings.NewReader(o.body()))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (p *production) poll(t *testing.T, id string) reply {
	t.Helper()
	a, err := p.client.call(t.Context(), http.MethodGet, "/api/v1/signing/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// beside is another server, with the same people, provider and authority.
func (p *production) beside(t *testing.T, o productionOptions) *production {
	t.Helper()
	other := newProduction(t, p.program, o.store, "--config", "innsigli.toml")
	other.ca, other.tsa, other.provider = p.ca, p.tsa, p.provider
	other.keepsToItself(t)
	other.configure(t, o)
	other.run(t)
	other.client = other.account(t, other.store)
	return other
}

// renew gives somebody another key and certificate.
func (p *production) renew(t *testing.T, one openidtest.Person) openidtest.Person {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	one.Key, one.Certificate = key, p.certificate(t, person{one.Name, one.Kennitala, one.Phone}, key)
	p.provider.Person(one)
	return one
}
