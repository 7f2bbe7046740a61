package audkenni

import (
	"context"
	"crypto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

func TestOptions(t *testing.T) {
	client := unreachable(t, Options{}).options.Client
	for _, test := range []struct {
		name string
		o    Options
		want string // within the error; "": there is none
	}{
		{"the client alone", Options{}, ""},
		{"a related party", Options{RelatedParty: "Fyrirtæki"}, "related party"},
		{"a related party of two words", Options{RelatedParty: "My Company"}, "related party"},
		{"a related party of a scope's characters", Options{RelatedParty: "My-Company"}, ""},
		{"SHA-1 in the app", Options{App: AppOptions{Hash: crypto.SHA1}}, "hash"},
		{"SHA-1 on the SIM", Options{SIM: SIMOptions{Hash: crypto.SHA1}}, "hash"},
		{"SHA-384 on the SIM", Options{SIM: SIMOptions{Hash: crypto.SHA384}}, ""},
		{"the app by phone", Options{App: AppOptions{SignHint: HintPhone}}, `"phone" must be one of`},
		{"the SIM by device", Options{SIM: SIMOptions{Hint: HintDocument}}, `"documentNr" must be one of`},
		{"a hint that is none", Options{SIM: SIMOptions{Hint: "email"}}, `"email" must be one of`},
		{"a long text that is not confirmed", Options{App: AppOptions{LongText: "x"}}, "confirm it"},
		{"a long text that is too long", Options{App: AppOptions{Confirm: true, LongText: strings.Repeat("ö", 201)}}, "200 characters"},
		{"a long text as long as may be", Options{App: AppOptions{Confirm: true, LongText: strings.Repeat("ö", 200) + "{document}"}}, ""},
		{"a long text of two lines", Options{App: AppOptions{Confirm: true, LongText: "a\nb"}}, "one line"},
		{"a SIM's text without the code", Options{SIM: SIMOptions{Text: "{document}"}}, "{code} exactly once"},
		{"a SIM's text with two", Options{SIM: SIMOptions{LearnText: "{code}{code}"}}, "{code} exactly once"},
		{"a SIM's text with two names", Options{SIM: SIMOptions{Text: "{code}{document}{document}"}}, "one line"},
		{"a SIM's text that is too long", Options{SIM: SIMOptions{Text: "{code}" + strings.Repeat("ö", 57)}}, "60 characters"},
		{"a SIM's text as long as may be", Options{SIM: SIMOptions{Text: "{code}" + strings.Repeat("ö", 56)}}, ""},
		{"no room for the default", Options{SIM: SIMOptions{TextLimit: 20}}, "20 characters"},
		{"no room at all", Options{SIM: SIMOptions{TextLimit: -1}}, "-1 characters"},
		{"more room than names are kept for", Options{SIM: SIMOptions{TextLimit: 201}}, "200 characters"},
		{"rows of errors", Options{Errors: map[string]idp.ErrorCode{"mssp_600": idp.PinBlocked, "mssp_401": ""}}, ""},
		{"a row of errors with another's code", Options{Errors: map[string]idp.ErrorCode{"a": "", "mssp_600": "WrongPin"}}, `errors, "mssp_600": "WrongPin" is not an error code`},
		{"a row of errors that is no end", Options{Errors: map[string]idp.ErrorCode{"mssp_600": idp.SlowDown}}, `errors, "mssp_600": after SlowDown the client would continue to poll`},
		{"a row of errors for nothing", Options{Errors: map[string]idp.ErrorCode{"": idp.InternalError}}, "no text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.o.Client = client
			_, err := New(test.o)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("want %q, got %v", test.want, err)
			}
		})
	}
	if _, err := New(Options{}); err == nil {
		t.Error("a client is needed")
	}
}

func TestTraits(t *testing.T) {
	pkcs1 := func(h crypto.Hash) ades.Algorithm { return ades.Algorithm{Hash: h, Scheme: ades.PKCS1v15} }
	for _, test := range []struct {
		name   string
		o      Options
		method idp.Method
		want   idp.Traits
	}{
		{"app", Options{}, idp.App, idp.Traits{Algorithm: pkcs1(crypto.SHA512)}},
		{"app, SHA-256", Options{App: AppOptions{Hash: crypto.SHA256}}, idp.App, idp.Traits{Algorithm: pkcs1(crypto.SHA256)}},
		{"SIM", Options{}, idp.SIM, idp.Traits{Algorithm: pkcs1(crypto.SHA256), Remember: true}},
		{"SIM, CMS", Options{SIM: SIMOptions{CMS: true}}, idp.SIM, idp.Traits{Algorithm: ades.Algorithm{Hash: crypto.SHA256}, CMS: true}},
		{"another", Options{}, "IdpCard", idp.Traits{}},
	} {
		if diff := cmp.Diff(test.want, unreachable(t, test.o).Traits(test.method)); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

func TestACRValues(t *testing.T) {
	for _, test := range []struct {
		name string
		o    Options
		want []string
	}{
		{"as documented", Options{}, []string{"app-certificate-choice", "app-sign-with-certificate", "sim-sign-pkcs1"}},
		{"as agreed", Options{App: AppOptions{CertificateACR: "a", SignACR: "b"}, SIM: SIMOptions{ACR: "c"}}, []string{"a", "b", "c"}},
		{"with a CMS", Options{SIM: SIMOptions{CMS: true}}, []string{"app-certificate-choice", "app-sign-with-certificate", "sim-sign"}},
	} {
		if diff := cmp.Diff(test.want, unreachable(t, test.o).ACRValues()); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

// TestInvalidCalls checks the errors for persons and digests that the adapter does not support.
func TestInvalidCalls(t *testing.T) {
	p := unreachable(t, Options{})
	whole := idp.Person{Method: idp.SIM, Kennitala: "0101302989", Phone: "6990001"}
	for name, change := range map[string]func(*idp.Person){
		"no method":      func(p *idp.Person) { p.Method = "" },
		"another method": func(p *idp.Person) { p.Method = "IdpCard" },
		"no kennitala":   func(p *idp.Person) { p.Kennitala = "-" },
		"no phone":       func(p *idp.Person) { p.Phone = "" },
	} {
		person := whole
		change(&person)
		if state, event, err := p.Begin(t.Context(), "key", person, idp.Text{}, nil); err == nil || state.Provider != "" {
			t.Errorf("%s: %+v", name, event)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, event, err := p.Begin(cancelled, "key", whole, idp.Text{}, nil); err == nil {
		t.Errorf("with an ended context: %+v", event)
	}

	state, event, err := p.Begin(t.Context(), "key", whole, idp.Text{}, testCertificate(t, openidtest.RSAKey()))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := event.(idp.NeedDigest); !ok {
		t.Fatalf("%+v", event)
	}
	good := p.Traits(idp.SIM).Algorithm.Digest(nil)
	for name, digests := range map[string][]ades.Digest{
		"no digest": nil, "two digests": {good, good}, "another hash": {p.Traits(idp.App).Algorithm.Digest(nil)},
		"part of a digest": {{Algorithm: good.Algorithm, Sum: good.Sum[1:]}}, "a digest of nothing": {{Algorithm: good.Algorithm}},
	} {
		if after, event, err := p.Sign(t.Context(), state, digests); err == nil || cmp.Diff(state, after) != "" {
			t.Errorf("%s: %+v, %v", name, event, err)
		}
	}
	waiting, err := seeds(t)[0].state()
	if err != nil {
		t.Fatal(err)
	}
	if _, event, err := p.Sign(t.Context(), waiting, []ades.Digest{p.Traits(idp.App).Algorithm.Digest(nil)}); err == nil {
		t.Errorf("Sign before NeedDigest: %+v", event)
	}
}

func TestHint(t *testing.T) {
	for _, test := range []struct {
		hint  Hint
		phone string
		want  string
	}{
		{HintLocalPhone, "6990001", "6990001"},
		{HintLocalPhone, "699 0001", "6990001"},
		{HintLocalPhone, "699-0001", "6990001"},
		{HintLocalPhone, "+354 699 0001", "6990001"},
		{HintLocalPhone, "00354-699-0001", "6990001"},
		{HintLocalPhone, "354 699 0001", "354 699 0001"}, // an unusual form; seven digits may begin so
		{HintLocalPhone, "3546990", "3546990"},
		{HintLocalPhone, "+45 20 12 34 56", "+45 20 12 34 56"},
		{HintLocalPhone, "+354 69", "+354 69"},
		{HintLocalPhone, "699000x", "699000x"},
		{HintLocalPhone, "٦٩٩٠٠٠١", "٦٩٩٠٠٠١"},
		{HintPhone, "+354 699-0001", "+354 699-0001"},
		{HintKennitala, "6990001", "0101302989"},
	} {
		t.Run(string(test.hint)+" of "+test.phone, func(t *testing.T) {
			person := idp.Person{Method: idp.SIM, Kennitala: "0101302989", Phone: test.phone}
			if got := test.hint.value(person); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}
