package openid

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"time"
)

// Person has an electronic ID.
type Person struct {
	Kennitala   string
	Phone       string // as login_hint has it, 7 digits; "": none
	Name        string
	Document    string        // the number of the app's device, as documentNr has it
	Certificate []byte        // DER; nil: "na"
	Key         crypto.Signer // RSA: the certificate's; nil for who only logs in

	Answer  Answer            // how the person meets requests
	Answers map[string]Answer // by acr_values, before Answer
}

// Answer is how a person meets a request. The zero value approves it before the request itself
// is answered; clients that are pinged hear of it a moment later.
type Answer struct {
	Delay          time.Duration
	Polls          int            // so many questions of the client's come first
	Silent         bool           // nothing comes of the phone
	Expires        time.Duration  // of the request, in whole seconds, where that is sooner than by the Options; 0: by them
	AtStart        *Refusal       // of the request itself
	Error          *Refusal       // from the phone
	WrongSignature bool           // of another digest
	Claims         map[string]any // over those that the provider makes, such as "certificate": "na"
	IDToken        map[string]any // over the claims of the ID token alone, which then differs from the userinfo
}

// Refusal is an error answer (RFC 6749 5.2).
type Refusal struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

// Person adds a person or changes one. A person who is being asked meets the request as the
// change says.
func (p *Provider) Person(person Person) {
	p.t.Helper()
	answers := map[string]answer{}
	for acr, a := range person.Answers {
		answers[acr] = a.wire()
	}
	p.order("person", map[string]any{
		"kennitala":   person.Kennitala,
		"phone":       person.Phone,
		"name":        person.Name,
		"document":    person.Document,
		"certificate": person.Certificate,
		"key":         p.pem(person.Key),
		"answer":      person.Answer.wire(),
		"answers":     answers,
	}, nil)
}

func (p *Provider) pem(key crypto.Signer) string {
	p.t.Helper()
	if key == nil {
		return ""
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// answer is an Answer as the program reads it.
type answer struct {
	Delay          int64          `json:"delay"` // in milliseconds
	Polls          int            `json:"polls"`
	Silent         bool           `json:"silent"`
	Expires        int            `json:"expires"`
	AtStart        *Refusal       `json:"atStart,omitempty"`
	Error          *Refusal       `json:"error,omitempty"`
	WrongSignature bool           `json:"wrongSignature"`
	Claims         map[string]any `json:"claims,omitempty"`
	IDToken        map[string]any `json:"idToken,omitempty"`
}

func (a Answer) wire() answer {
	return answer{a.Delay.Milliseconds(), a.Polls, a.Silent, int(a.Expires / time.Second), a.AtStart, a.Error, a.WrongSignature, a.Claims, a.IDToken}
}
