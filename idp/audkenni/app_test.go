package audkenni_test

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

var byApp = []string{"waiting", "continue", "digest", "waiting", "continue", "signed"}

func TestAppSigns(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{Interval: 2 * time.Second})
	person := somebody(t)
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
	if diff := cmp.Diff(want, asked(p)); diff != "" {
		t.Errorf("the person was asked (-want +got):\n%s", diff)
	}
	if c.digest.Algorithm != (ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}) {
		t.Errorf("the app signs %v", c.digest.Algorithm)
	}
}

// asked are the claims of the requests so far, without those of every request object.
func asked(p *openidtest.Provider) []map[string]any {
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

// What Auðkenni's documentation leaves open is asked as the options say.
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
			person := somebody(t)
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
			all := asked(p)
			if diff := cmp.Diff(want, all[len(all)-1]); diff != "" {
				t.Errorf("the second request (-want +got):\n%s", diff)
			}
		})
	}
}

// The app shows 60 characters, and what it is sent has no more (spec 3.2).
func TestAppShowsTheNameOfTheDocument(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := somebody(t)
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
		all := asked(p)
		if got := all[len(all)-1]["binding_message"]; got != test.want {
			t.Errorf("of %q the app shows %q, not %q", test.name, got, test.want)
		}
	}
}

// chosen is a conversation with a person whose certificate is known.
func chosen(t *testing.T) (*openidtest.Provider, openidtest.Person, *talk) {
	t.Helper()
	p := openidtest.Start(t, openidtest.Options{})
	person := somebody(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{})
	c := begin(t, provider, named(person, idp.App), nil)
	for c.need.Certificate == nil {
		c.step()
	}
	return p, person, c
}

// Another device than the one chosen cannot sign for it, nor can a new certificate.
func TestAppAnswersWithAnotherCertificate(t *testing.T) {
	p, person, c := chosen(t)
	renew(t, p, person)
	want := idp.Failure{Code: idp.CertificateValidationError, Description: "The signer answered with another certificate."}
	if diff := cmp.Diff(want, c.run().failure()); diff != "" {
		t.Error(diff)
	}
}

// Who died before the digest was handed over is asked for it again.
func TestAppIsPolledInsteadOfSigned(t *testing.T) {
	_, _, c := chosen(t)
	first := c.need
	c.note(c.provider.Poll(t.Context(), c.state()))
	if diff := cmp.Diff(first, c.event); diff != "" {
		t.Error(diff)
	}
	c.run().verify()
}
