package pades_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/x509"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// storeWorld is documents of level T, and certificates and revocation data of their signers, from
// which tests put document security stores together.
type storeWorld struct {
	honest, revoked, stranger person            // the last one has another authority
	one, three                []byte            // signed by honest, and by all of them
	proofs                    map[string][]byte // DER, by names that a store has after "$"
}

func newStoreWorld(t testing.TB) *storeWorld {
	t.Helper()
	ca, other := catest.New(t), catest.New(t)
	w := &storeWorld{honest: newPerson(t, ca, p256(t)), revoked: newPerson(t, ca, p256(t)), stranger: newPerson(t, other, p256(t))}
	w.proofs = map[string][]byte{
		"issuing": ca.Chain()[0].Raw, "root": ca.Root().Raw, "other": other.Chain()[0].Raw,
		"good": responseAbout(t, w.honest, time.Now()), "strangers": responseAbout(t, w.stranger, time.Now()),
		"stale": responseAbout(t, w.revoked, time.Now().Add(-time.Hour)), // from before the revocation
	}
	ca.Revoke(w.revoked.signer.Certificate.SerialNumber, time.Now().Add(-time.Minute), 1)
	w.one = signFor(t, pdftest.Build(pdftest.Options{}), w.honest, ades.T)
	w.three = signFor(t, signFor(t, w.one, w.revoked, ades.T), w.stranger, ades.T)
	w.proofs["revoked"] = responseAbout(t, w.revoked, time.Now())
	for name, p := range map[string]person{"list": w.honest, "strangerslist": w.stranger} {
		der, err := p.ca.RootCRL(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w.proofs[name] = der
	}
	return w
}

// responseAbout returns an OCSP response about a signer's certificate.
func responseAbout(t testing.TB, p person, at time.Time) []byte {
	t.Helper()
	s := p.ca.Sources(func() time.Time { return at })
	proof, err := s.Revocation.Revocation(t.Context(), p.signer.Certificate, p.ca.Chain()[0], at)
	if proof.OCSP == nil {
		t.Fatal(err)
	}
	return proof.OCSP
}

// sources returns the sources of the authority, with one CRL that is published once, as CRLs are: a
// store may have the same one.
func (w *storeWorld) sources() ades.Sources {
	s := w.honest.ca.Sources(nil)
	s.Revocation = published{s, w.proofs["list"], w.honest.ca.Root()}
	return s
}

type published struct {
	others ades.Sources
	list   []byte
	by     *x509.Certificate
}

func (p published) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	if issuer.Equal(p.by) {
		return ades.RevocationData{CRL: p.list}, nil
	}
	return p.others.Revocation.Revocation(ctx, cert, issuer, notBefore)
}

// firstInStore is the number of the first object of a store.
const firstInStore = 900

var proofName = regexp.MustCompile(`\$[a-z]+`)

// attach appends a revision with a document security store: the value of DSS in the catalog, then
// objects, each after a line with a tilde. "$good" stands for the bytes of that proof. An object
// that begins so is a stream of them, with the entries that follow.
func (w *storeWorld) attach(t *testing.T, b, store []byte) []byte {
	t.Helper()
	file := open(t, b)
	ref, _, err := file.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	update := file.NewUpdate()
	catalog, err := update.Source(ref)
	if err != nil {
		t.Fatal(err)
	}
	objects := bytes.Split(store, []byte("\n~\n"))
	catalog, err = pdf.SetKey(catalog, "DSS", w.expand(objects[0]))
	if err != nil {
		t.Skip("fuzzed value does not fit a dictionary")
	}
	update.Set(ref, catalog)
	for i, object := range objects[1:] {
		update.Set(pdf.Ref{Num: uint32(firstInStore + i)}, w.object(object))
	}
	appended, _, err := update.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(b), appended...)
}

func (w *storeWorld) expand(source []byte) []byte {
	return proofName.ReplaceAllFunc(source, func(name []byte) []byte {
		if der := w.proofs[string(name[1:])]; der != nil {
			return der
		}
		return name
	})
}

func (w *storeWorld) object(source []byte) []byte {
	name := proofName.Find(source)
	if name == nil || !bytes.HasPrefix(source, name) {
		return w.expand(source)
	}
	entries, payload := source[len(name):], w.expand(name)
	if bytes.Contains(entries, []byte("/FlateDecode")) {
		var compressed bytes.Buffer
		z := zlib.NewWriter(&compressed)
		z.Write(payload) // a bytes.Buffer takes everything
		z.Close()
		payload = compressed.Bytes()
	}
	return fmt.Appendf(nil, "<< /Length %d %s >>\nstream\n%s\nendstream", len(payload), entries, payload)
}
