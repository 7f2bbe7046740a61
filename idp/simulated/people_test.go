package simulated_test

import (
	"crypto"
	"crypto/x509"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// ask has a conversation with a person, and returns the time that it took, the certificate and the last event.
func ask(t *testing.T, p *simulated.Provider, person idp.Person) (took time.Duration, certificate *x509.Certificate, end idp.Event) {
	t.Helper()
	began := time.Now()
	state, event, err := p.Begin(t.Context(), "key", person, idp.Text{}, nil)
	for err == nil {
		switch e := event.(type) {
		case idp.NeedDigest:
			certificate = e.Certificate
			state, event, err = p.Sign(t.Context(), state, []ades.Digest{digest})
		case idp.Waiting:
			time.Sleep(max(e.RetryAfter, time.Second))
			state, event, err = p.Poll(t.Context(), state)
		default:
			return time.Since(began), certificate, event
		}
	}
	t.Fatal(err)
	return 0, nil, nil
}

var digest = ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}.Digest([]byte("a document"))

// TestStatusCodes checks the table of the package comment.
func TestStatusCodes(t *testing.T) {
	const delay = 5 * time.Second
	for status, want := range map[string]struct {
		code idp.ErrorCode
		took time.Duration
	}{
		"105": {idp.UserNotFound, 0},
		"406": {idp.RequestInProgress, 0},
		"422": {idp.CertificateNotFound, 0},
		"208": {idp.TimeoutNoAnswer, delay},
		"401": {idp.UserCancelled, delay},
		"402": {idp.PinBlocked, delay},
		"403": {idp.CardBlocked, delay},
		"404": {idp.KeyNotFound, delay},
		"501": {idp.CertificateIsRevoked, delay},
		"504": {idp.ExpiredToken, simulated.Expiry},
	} {
		for _, person := range []idp.Person{
			{Method: idp.App, Kennitala: "1203894" + status, Phone: "5550101"},
			{Method: idp.SIM, Kennitala: "1203894569", Phone: "+354 555 0" + status},
		} {
			t.Run(status+" "+string(person.Method), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					took, _, end := ask(t, open(t, simulated.Options{Delay: delay}), person)
					failed, ok := end.(idp.Failed)
					if !ok || failed.Code != want.code || took != want.took {
						t.Errorf("%+v after %v, want %s after %v", end, took, want.code, want.took)
					}
					if words := "mssp_" + status; status != "504" && (failed.Description != words || failed.OAuth != "access_denied") {
						t.Errorf("the provider's words are %+v, want %s", failed.Failure, words)
					}
				})
			})
		}
	}
}

// TestDigitsOfTheOtherMethod checks that only the kennitala counts with the app, and only the phone number with the
// SIM.
func TestDigitsOfTheOtherMethod(t *testing.T) {
	for _, person := range []idp.Person{
		{Method: idp.App, Kennitala: "120389-4569", Phone: "5550401"},
		{Method: idp.SIM, Kennitala: "1203894401", Phone: "5550101"},
		{Method: idp.SIM, Kennitala: "1203894569", Phone: ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			if _, certificate, end := ask(t, open(t, simulated.Options{}), person); certificate == nil {
				t.Errorf("%s: %+v", person.Method, end)
			} else if _, signed := end.(idp.Signed); !signed {
				t.Errorf("%s: %+v", person.Method, end)
			}
		})
	}
}

func TestInvalidKennitala(t *testing.T) {
	p := open(t, simulated.Options{})
	for _, kennitala := range []string{"", "120389456", "12038945691", "120389456x", "１２０３８９４５６９", "+203894569"} {
		_, event, err := p.Begin(t.Context(), "key", idp.Person{Method: idp.App, Kennitala: kennitala}, idp.Text{}, nil)
		if failed, ok := event.(idp.Failed); !ok || failed.Code != idp.UserNotFound || err != nil {
			t.Errorf("%q: %+v, %v", kennitala, event, err)
		}
	}
}

// TestDigestsThatCannotBeSigned checks that Sign refuses digests that the person's key cannot sign.
func TestDigestsThatCannotBeSigned(t *testing.T) {
	p := open(t, simulated.Options{})
	state, _, err := p.Begin(t.Context(), "key", idp.Person{Method: idp.SIM, Kennitala: "1203894569"}, idp.Text{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, digests := range map[string][]ades.Digest{
		"none":              nil,
		"of RSA":            {{Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15}, Sum: digest.Sum}},
		"of no hash":        {{Algorithm: ades.Algorithm{Scheme: ades.ECDSA}, Sum: digest.Sum}},
		"of another length": {{Algorithm: digest.Algorithm, Sum: digest.Sum[1:]}},
		"the second is bad": {digest, {}},
	} {
		if _, event, err := p.Sign(t.Context(), state, digests); err == nil {
			t.Errorf("%s: %T", name, event)
		}
	}
}

// TestSeed checks that the root and the keys depend only on the seed, and that certificates differ.
func TestSeed(t *testing.T) {
	person := idp.Person{Method: idp.SIM, Kennitala: "1203894569"}
	first, same, other := open(t, simulated.Options{Seed: seed}), open(t, simulated.Options{Seed: seed}), open(t, simulated.Options{})
	if !first.Root().Equal(same.Root()) || first.Root().Equal(other.Root()) {
		t.Error("the root is the seed's")
	}
	state, event, err := first.Begin(t.Context(), "key", person, idp.Text{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	certificate := event.(idp.NeedDigest).Certificate
	if state, _, err = same.Sign(t.Context(), state, []ades.Digest{digest}); err != nil {
		t.Fatal(err)
	}
	if _, event, err := other.Poll(t.Context(), state); err == nil {
		t.Errorf("a Provider with another seed answers %T", event)
	}
	_, event, err = same.Poll(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	if err := digest.Algorithm.Verify(certificate.PublicKey, digest.Sum, event.(idp.Signed).Values[0]); err != nil {
		t.Error(err)
	}
	if _, err := simulated.New(simulated.Options{Seed: seed[:15]}); err == nil {
		t.Error("a seed that can be guessed is taken")
	}
}

func TestCertificates(t *testing.T) {
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	issue := func(name, kennitala string, public crypto.PublicKey) ([]*x509.Certificate, error) {
		own, err := ca.Issue(name, kennitala, public, time.Now())
		return append([]*x509.Certificate{own}, ca.Chain()...), err
	}
	name := func(kennitala string) string { return "Jón " + kennitala }
	for _, test := range []struct {
		name    string
		options simulated.Options
		root    *x509.Certificate // nil: the Provider's own
		want    string
	}{
		{"its own", simulated.Options{}, nil, "Simulated Signer"},
		{"its own, with names", simulated.Options{Name: name}, nil, "Jón 1203894569"},
		{"another authority's", simulated.Options{Issue: issue, Name: name}, ca.Root(), "Jón 1203894569"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := open(t, test.options)
			root := test.root
			if root == nil {
				root = p.Root()
			} else if p.Root() != nil {
				t.Error("a Provider that does not certify has a root")
			}
			_, event, err := p.Begin(t.Context(), "key", idp.Person{Method: idp.SIM, Kennitala: "120389-4569"}, idp.Text{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			need, roots := event.(idp.NeedDigest), x509.NewCertPool()
			roots.AddCert(root)
			if _, err := ades.Chain(need.Certificate, need.Chain, roots, time.Now()); err != nil {
				t.Error(err)
			}
			got := []string{need.Certificate.Subject.CommonName, idp.Kennitala(need.Certificate)}
			if diff := cmp.Diff([]string{test.want, "1203894569"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestIssueThatFails checks that Begin fails if Options.Issue fails or issues a certificate for another key.
func TestIssueThatFails(t *testing.T) {
	other := open(t, simulated.Options{}).Root()
	broken := errors.New("no more paper")
	for name, issue := range map[string]func(string, string, crypto.PublicKey) ([]*x509.Certificate, error){
		"an error": func(string, string, crypto.PublicKey) ([]*x509.Certificate, error) { return nil, broken },
		"nothing":  func(string, string, crypto.PublicKey) ([]*x509.Certificate, error) { return nil, nil },
		"nil": func(string, string, crypto.PublicKey) ([]*x509.Certificate, error) {
			return []*x509.Certificate{nil}, nil
		},
		"another key": func(string, string, crypto.PublicKey) ([]*x509.Certificate, error) {
			return []*x509.Certificate{other}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, simulated.Options{Issue: issue})
			state, event, err := p.Begin(t.Context(), "key", idp.Person{Method: idp.App, Kennitala: "1203894569"}, idp.Text{}, nil)
			if err == nil || event != nil || state.Provider != "" {
				t.Errorf("Begin: %+v, %v, %v", state, event, err)
			}
		})
	}
}
