package ades

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// certified is a certificate with its key.
type certified struct {
	*x509.Certificate
	key *ecdsa.PrivateKey
}

// certify makes an authority's certificate for a key, a new one if there is none.
// by is its issuer; the zero value is itself. Key identifiers are those of the template.
func certify(t *testing.T, template x509.Certificate, key *ecdsa.PrivateKey, by certified) certified {
	t.Helper()
	var err error
	if key == nil {
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	template.SerialNumber = big.NewInt(1)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	if by.Certificate == nil {
		by = certified{&template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, by.Certificate, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certified{cert, key}
}

func named(name string) x509.Certificate {
	return x509.Certificate{Subject: pkix.Name{CommonName: name}}
}

var sameCertificate = cmp.Comparer(func(a, b *x509.Certificate) bool { return a.Equal(b) })

// RFC 5280 4.1.2.4 and 4.2.1.1: an issuer is found by its name, and told from others of
// that name by the identifier of its key.
func TestPool(t *testing.T) {
	root := certify(t, named("Root"), nil, certified{})
	namesake := certify(t, named("Root"), nil, certified{})
	other := certify(t, named("Other"), nil, certified{})
	below := certify(t, named("Below"), nil, root)
	withoutID := *below.Certificate
	withoutID.AuthorityKeyId = nil
	bare := *root.Certificate
	bare.SubjectKeyId = nil
	for _, test := range []struct {
		name string
		pool []*x509.Certificate
		cert *x509.Certificate
		want []*x509.Certificate
	}{
		{"name and key", []*x509.Certificate{namesake.Certificate, other.Certificate, root.Certificate}, below.Certificate, []*x509.Certificate{root.Certificate}},
		{"certificate without an identifier", []*x509.Certificate{namesake.Certificate, root.Certificate}, &withoutID, []*x509.Certificate{namesake.Certificate, root.Certificate}},
		{"issuer without an identifier", []*x509.Certificate{namesake.Certificate, &bare}, below.Certificate, []*x509.Certificate{&bare}},
		{"another name", []*x509.Certificate{other.Certificate}, below.Certificate, nil},
		{"empty", nil, below.Certificate, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := NewPool(test.pool...).Issuers(t.Context(), test.cert)
			if diff := cmp.Diff(test.want, got, sameCertificate); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// asked is a source that gives the same answer to all, and counts.
type asked struct {
	found []*x509.Certificate
	err   error
	times int
}

func (a *asked) Issuers(context.Context, *x509.Certificate) ([]*x509.Certificate, error) {
	a.times++
	return a.found, a.err
}

func TestIssuersInOrder(t *testing.T) {
	root := certify(t, named("Root"), nil, certified{})
	expiredTemplate := named("Root")
	expiredTemplate.NotBefore, expiredTemplate.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	expired := certify(t, expiredTemplate, root.key, certified{})
	namesake := certify(t, named("Root"), nil, certified{})
	below := certify(t, named("Below"), nil, root)
	list := func(all ...certified) (out []*x509.Certificate) {
		for _, c := range all {
			out = append(out, c.Certificate)
		}
		return out
	}
	first, second := errors.New("first"), errors.New("second")
	for _, test := range []struct {
		name  string
		order []*asked
		want  []*x509.Certificate
		times []int
		errs  []error
	}{
		{"the first knows", []*asked{{found: list(root)}, {found: list(root)}}, list(root), []int{1, 0}, nil},
		{"the second knows", []*asked{{}, {found: list(namesake, below, root)}}, list(root), []int{1, 1}, nil},
		{"the first has a namesake", []*asked{{found: list(namesake)}, {found: list(root)}}, list(root), []int{1, 1}, nil},
		{"the first has one that expired", []*asked{{found: list(expired)}, {found: list(root)}}, list(expired, root), []int{1, 1}, nil},
		{"only one that expired", []*asked{{found: list(expired)}, {err: second}}, list(expired), []int{1, 1}, nil},
		{"the first fails", []*asked{{err: first}, {found: list(root)}}, list(root), []int{1, 1}, nil},
		{"all fail", []*asked{{err: first}, {err: second}}, nil, []int{1, 1}, []error{first, second}},
		{"none knows", []*asked{{}, {found: list(namesake)}}, nil, []int{1, 1}, nil},
		{"nobody is there", nil, nil, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var order IssuersInOrder
			for _, a := range test.order {
				order = append(order, a)
			}
			got, err := order.Issuers(t.Context(), below.Certificate)
			if diff := cmp.Diff(test.want, got, sameCertificate); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, e := range test.errs {
				if !errors.Is(err, e) {
					t.Errorf("error %v is not %v", err, e)
				}
			}
			if (err != nil) != (len(test.errs) > 0) {
				t.Errorf("error %v", err)
			}
			var times []int
			for _, a := range test.order {
				times = append(times, a.times)
			}
			if diff := cmp.Diff(test.times, times, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

// Whoever went away has nobody asked further.
func TestIssuersInOrderStops(t *testing.T) {
	below := certify(t, named("Below"), nil, certify(t, named("Root"), nil, certified{}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	second := new(asked)
	if _, err := (IssuersInOrder{&asked{err: ctx.Err()}, second}).Issuers(ctx, below.Certificate); !errors.Is(err, context.Canceled) || second.times != 0 {
		t.Errorf("error %v, the second asked %d times", err, second.times)
	}
}
