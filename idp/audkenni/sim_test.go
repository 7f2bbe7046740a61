package audkenni_test

import (
	"encoding/base64"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/internal/pki/cms"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

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
		{"with a certificate of somebody else", func(openidtest.Person) []byte { return somebody(t).Certificate }, false, trail(learns, signs)},
	} {
		t.Run(test.name, func(t *testing.T) {
			person := somebody(t)
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

// Nothing but the text is shown, so the code is in it: the one that the start has told.
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
			person := somebody(t)
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
			all := asked(p)
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

func TestSIMIsNotLearnt(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := somebody(t)
	p.Person(person)
	provider, _ := open(t, p, audkenni.Options{SIM: audkenni.SIMOptions{NoLearning: true}})
	want := idp.Failure{Code: idp.CertificateNotFound, Description: "The signer's certificate is not known."}
	if diff := cmp.Diff(want, begin(t, provider, named(person, idp.SIM), nil).failure()); diff != "" {
		t.Error(diff)
	}
	if all := asked(p); len(all) > 0 {
		t.Errorf("the person was asked: %v", all)
	}
	begin(t, provider, named(person, idp.SIM), parsed(t, person.Certificate)).run().verify()
}

// A person whose certificate is another each time signs for none of them.
func TestSIMIsRenewedEachTime(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := somebody(t)
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

// With a CMS for answer nothing has to be known before.
func TestSIMSignsWithCMS(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := somebody(t)
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
	if diff := cmp.Diff(want, asked(p)); diff != "" {
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
