package audkenni_test

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/internal/pki/cms"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

var byApp = []string{"waiting", "continue", "digest", "waiting", "continue", "signed"}

func TestAppSigns(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{Interval: 2 * time.Second})
	person := newPerson(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{RelatedParty: "Innsigli"})

	c := begin(t, provider, named(person, idp.App), nil)
	if diff := cmp.Diff(idp.Waiting{RetryAfter: 2 * time.Second}, c.event); diff != "" {
		t.Errorf("the digest is not known, so there is no code:\n%s", diff)
	}
	for c.digest.Sum == nil {
		c.step()
	}
	if !c.need.Certificate.Equal(parsed(t, person.Certificate)) || c.need.Code != "" {
		t.Errorf("the digest is for the certificate that was chosen, not %+v", c.need)
	}
	if want := audkenni.VerificationCode(c.digest.Sum); c.event.(idp.Waiting).Code != want {
		t.Errorf("the code is %s, but %+v", want, c.event)
	}
	c.run().verify()
	if diff := cmp.Diff(byApp, c.trail); diff != "" {
		t.Error(diff)
	}

	scope := "openid profile signature RELATEDPARTY:Innsigli"
	want := []map[string]any{
		{"login_hint": person.Kennitala, "scope": scope, "acr_values": "app-certificate-choice", "binding_message": "", "binding_content": ""},
		{"login_hint": person.Kennitala, "scope": scope, "acr_values": "app-sign-with-certificate", "binding_message": text.Document, "binding_content": base64.StdEncoding.EncodeToString(c.digest.Sum)},
	}
	if diff := cmp.Diff(want, requestClaims(p)); diff != "" {
		t.Errorf("the person was asked (-want +got):\n%s", diff)
	}
	if c.digest.Algorithm != (ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}) {
		t.Errorf("the app signs %v", c.digest.Algorithm)
	}
}

// requestClaims returns the claims of the requests so far, without those that every request object has.
func requestClaims(p *openidtest.Provider) []map[string]any {
	var all []map[string]any
	for _, a := range p.Asked() {
		maps.DeleteFunc(a.Claims, func(name string, _ any) bool {
			return strings.Contains(" iss aud iat nbf exp jti ", " "+name+" ")
		})
		all = append(all, a.Claims)
	}
	return all
}

func parsed(t testing.TB, der []byte) *x509.Certificate {
	t.Helper()
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// TestAppOptions checks the requests for each option of points that Auðkenni's documentation leaves open.
func TestAppOptions(t *testing.T) {
	const pin = "documentNr"
	p := openidtest.Start(t, openidtest.Options{Pin: pin})
	for _, test := range []struct {
		name string
		app  audkenni.AppOptions
		want map[string]any // of the second request, beside what is always there
	}{
		{"the device in a claim", audkenni.AppOptions{ChoiceClaim: pin}, map[string]any{pin: "device"}},
		{"and in the hint", audkenni.AppOptions{ChoiceClaim: pin, SignHint: audkenni.HintDocument}, map[string]any{pin: "device", "login_hint": "device"}},
		{"any certificate", audkenni.AppOptions{SignACR: "app-sign"}, map[string]any{"acr_values": "app-sign"}},
		{"SHA-256", audkenni.AppOptions{SignACR: "app-sign", Hash: crypto.SHA256}, map[string]any{"acr_values": "app-sign"}},
		{"SHA-384", audkenni.AppOptions{SignACR: "app-sign", Hash: crypto.SHA384}, map[string]any{"acr_values": "app-sign"}},
		{"a choice of codes", audkenni.AppOptions{ChoiceClaim: pin, CodeChoice: true}, map[string]any{pin: "device", "vchoice": "true"}},
		{"to be confirmed", audkenni.AppOptions{ChoiceClaim: pin, Confirm: true}, map[string]any{pin: "device", "confirmation_message": "true"}},
		{"a long text", audkenni.AppOptions{ChoiceClaim: pin, Confirm: true, LongText: "Þú undirritar {document}."}, map[string]any{
			pin: "device", "confirmation_message": "true", "binding_message_long": "Þú undirritar Samningur um leigu.pdf.",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			person := newPerson(t)
			p.Person(person)
			provider, _ := open(t, p, audkenni.Options{App: test.app})
			c := begin(t, provider, named(person, idp.App), nil).run()
			c.verify()
			want := map[string]any{
				"login_hint": person.Kennitala, "scope": "openid profile signature", "acr_values": "app-sign-with-certificate",
				"binding_message": text.Document, "binding_content": base64.StdEncoding.EncodeToString(c.digest.Sum),
			}
			maps.Copy(want, test.want)
			for name, value := range want {
				if value == "device" {
					want[name] = person.Document
				}
			}
			all := requestClaims(p)
			if diff := cmp.Diff(want, all[len(all)-1]); diff != "" {
				t.Errorf("the second request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAppText checks that the app is sent at most the 60 characters that it shows (spec 3.2).
func TestAppText(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := newPerson(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{})
	for _, test := range []struct{ name, want string }{
		{"", ""},
		{"leiga.pdf", "leiga.pdf"},
		{strings.Repeat("þ", 61), strings.Repeat("þ", 60)},
		{strings.Repeat("a", 59) + "o\u0308.pdf", strings.Repeat("a", 59)},
		{"leiga\r\nog fleira\x00.pdf", "leiga  og fleira .pdf"},
	} {
		state, _, err := provider.Begin(t.Context(), "key", named(person, idp.App), idp.Text{Document: test.name}, nil)
		c := &talk{TB: t, provider: provider, method: idp.App}
		c.note(state, idp.Waiting{}, err)
		c.run().verify()
		all := requestClaims(p)
		if got := all[len(all)-1]["binding_message"]; got != test.want {
			t.Errorf("of %q the app shows %q, not %q", test.name, got, test.want)
		}
	}
}

// withCertificate returns a conversation with a person whose certificate is known.
func withCertificate(t *testing.T) (*openidtest.Provider, openidtest.Person, *talk) {
	t.Helper()
	p := openidtest.Start(t, openidtest.Options{})
	person := newPerson(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{})
	c := begin(t, provider, named(person, idp.App), nil)
	for c.need.Certificate == nil {
		c.step()
	}
	return p, person, c
}

// TestAppAnotherCertificate checks that neither another device nor a renewed certificate can sign.
func TestAppAnotherCertificate(t *testing.T) {
	p, person, c := withCertificate(t)
	renew(t, p, person)
	want := idp.Failure{Code: idp.CertificateValidationError, Description: "The signer answered with another certificate."}
	if diff := cmp.Diff(want, c.run().failure()); diff != "" {
		t.Error(diff)
	}
}

// TestPollBeforeSign checks that Poll returns NeedDigest again if Sign was not called.
func TestPollBeforeSign(t *testing.T) {
	_, _, c := withCertificate(t)
	first := c.need
	c.note(c.provider.Poll(t.Context(), c.state()))
	if diff := cmp.Diff(first, c.event); diff != "" {
		t.Error(diff)
	}
	c.run().verify()
}

var (
	learns  = []string{"waiting", "continue", "digest"}
	signs   = []string{"waiting", "continue", "signed"}
	isKnown = []string{"digest"}
)

func trail(parts ...[]string) (all []string) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

func TestSIMSigns(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	provider, _ := open(t, p, audkenni.Options{})
	long := time.Now().AddDate(-10, 0, 0)
	for _, test := range []struct {
		name  string
		known func(openidtest.Person) []byte // nil: none
		renew bool                           // since it was known
		want  []string
	}{
		{"for the first time", nil, false, trail(learns, signs)},
		{"with the certificate that is known", func(p openidtest.Person) []byte { return p.Certificate }, false, trail(isKnown, signs)},
		{"with a certificate that was renewed", func(p openidtest.Person) []byte { return p.Certificate }, true, trail(isKnown, learns, signs)},
		{"after the certificate has expired", func(p openidtest.Person) []byte {
			return certificate(t, p.Name, p.Kennitala, p.Key, long).Raw
		}, false, trail(learns, signs)},
		{"with another person's certificate", func(openidtest.Person) []byte { return newPerson(t).Certificate }, false, trail(learns, signs)},
	} {
		t.Run(test.name, func(t *testing.T) {
			person := newPerson(t)
			p.Person(person)
			c := &talk{TB: t}
			if test.known == nil {
				c = begin(t, provider, named(person, idp.SIM), nil)
			} else {
				c = begin(t, provider, named(person, idp.SIM), parsed(t, test.known(person)))
			}
			cert := parsed(t, person.Certificate)
			if test.renew {
				cert = renew(t, p, person)
			}
			c.run().verify()
			if diff := cmp.Diff(test.want, c.trail); diff != "" {
				t.Error(diff)
			}
			if !c.need.Certificate.Equal(cert) {
				t.Error("the digest is for the certificate that the person has")
			}
		})
	}
}

// TestSIMShowsTheCode checks that the SIM's text has the code of the first event.
func TestSIMShowsTheCode(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	for _, test := range []struct {
		name          string
		sim           audkenni.SIMOptions
		learns, signs string // by a code of 0042
	}{
		{"by default", audkenni.SIMOptions{}, "0042 Staðfesting fyrir undirritun", "0042 Samningur um leigu.pdf"},
		{"as configured", audkenni.SIMOptions{Text: "Undirrita {document}? {code}", LearnText: "Skilríki: {code}"}, "Skilríki: 0042", "Undirrita Samningur um leigu.pdf? 0042"},
		{"with little room", audkenni.SIMOptions{TextLimit: 14, LearnText: "{code}"}, "0042", "0042 Samningur"},
	} {
		t.Run(test.name, func(t *testing.T) {
			person := newPerson(t)
			p.Person(person)
			provider, _ := open(t, p, audkenni.Options{SIM: test.sim})
			c := begin(t, provider, named(person, idp.SIM), nil)
			code := c.event.(idp.Waiting).Code
			if !regexp.MustCompile(`^\d{4}$`).MatchString(code) {
				t.Fatalf("the code is %q", code)
			}
			c.run().verify()
			if c.need.Code != code {
				t.Errorf("the code has become %q", c.need.Code)
			}
			all := requestClaims(p)
			got := all[len(all)-2:]
			for i, text := range []string{test.learns, test.signs} {
				text = regexp.MustCompile("0042").ReplaceAllString(text, code)
				delete(got[i], "binding_content")
				want := map[string]any{"login_hint": person.Phone, "scope": "openid profile signature", "acr_values": "sim-sign-pkcs1", "binding_message": text}
				if diff := cmp.Diff(want, got[i]); diff != "" {
					t.Errorf("request %d (-want +got):\n%s", i+1, diff)
				}
			}
		})
	}
}

func TestNoLearning(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := newPerson(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{SIM: audkenni.SIMOptions{NoLearning: true}})
	want := idp.Failure{Code: idp.CertificateNotFound, Description: "The signer's certificate is not known."}
	if diff := cmp.Diff(want, begin(t, provider, named(person, idp.SIM), nil).failure()); diff != "" {
		t.Error(diff)
	}
	if all := requestClaims(p); len(all) > 0 {
		t.Errorf("the person was asked: %v", all)
	}
	begin(t, provider, named(person, idp.SIM), parsed(t, person.Certificate)).run().verify()
}

// TestMaxRenewals checks that a conversation fails if every answer has another certificate.
func TestMaxRenewals(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := newPerson(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{})
	c := begin(t, provider, named(person, idp.SIM), parsed(t, person.Certificate))
	for !c.over() {
		if _, next := c.event.(idp.NeedDigest); next {
			renew(t, p, person)
		}
		c.step()
	}
	if diff := cmp.Diff(trail(isKnown, learns, learns, []string{"waiting", "continue", "failed CertificateValidationError"}), c.trail); diff != "" {
		t.Error(diff)
	}
}

// TestSIMSignsWithCMS checks that with SIMOptions.CMS no certificate is needed.
func TestSIMSignsWithCMS(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := newPerson(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{SIM: audkenni.SIMOptions{CMS: true, Hint: audkenni.HintKennitala}})
	c := begin(t, provider, named(person, idp.SIM), nil).run()
	if diff := cmp.Diff(trail(isKnown, signs), c.trail); diff != "" {
		t.Error(diff)
	}
	if c.need.Certificate != nil || c.need.Code == "" {
		t.Errorf("the code is known, and the certificate is not: %+v", c.need)
	}
	want := []map[string]any{{
		"login_hint": person.Kennitala, "scope": "openid profile signature", "acr_values": "sim-sign",
		"binding_message": c.need.Code + " " + text.Document, "binding_content": base64.StdEncoding.EncodeToString(c.digest.Sum),
	}}
	if diff := cmp.Diff(want, requestClaims(p)); diff != "" {
		t.Error(diff)
	}
	verifyCMS(t, person, c)
}

func verifyCMS(t *testing.T, person openidtest.Person, c *talk) {
	t.Helper()
	sd, err := cms.Parse(c.event.(idp.Signed).Values[0])
	if err != nil {
		t.Fatal(err)
	}
	signer, err := sd.Signer()
	if err != nil || !signer.Equal(parsed(t, person.Certificate)) {
		t.Errorf("the CMS is the person's: %v", err)
	}
	if err := sd.Verify(c.digest.Sum); err != nil {
		t.Error(err)
	}
}
