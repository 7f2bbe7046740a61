package validation

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestFetchedIssuers checks which issuers Collect fetches to complete a chain (RFC 5280 4.2.2.1). Unknown certificates
// contain their addresses, so the number of requests is limited, and nothing is fetched if no root is trusted.
func TestFetchedIssuers(t *testing.T) {
	n := newNetwork(t)
	issuing := newAuthority(t, "Issuing", n.root)
	renewed := certtest.NewForKey(t, "Issuing", issuing.Key, n.root, certtest.Authority, certtest.Valid(time.Now().Add(-2*time.Hour), time.Now().Add(-time.Minute)))
	upper := newAuthority(t, "Upper", n.root)
	lower := newAuthority(t, "Lower", upper)
	other := newAuthority(t, "Other root", nil)
	a, b := newAuthority(t, "CA A", nil), newAuthority(t, "CA B", nil)
	aByB, bByA := certtest.NewForKey(t, "CA A", a.Key, b, certtest.Authority), certtest.NewForKey(t, "CA B", b.Key, a, certtest.Authority)
	for name, by := range map[string]*certtest.Pair{"below Lower": lower, "Lower": upper, "Upper": n.root, "below Issuing": issuing, "Issuing": n.root} {
		n.respondAbout(name, by)
	}
	n.issuers = map[string][]*x509.Certificate{
		"below Lower": {other.Cert, lower.Cert}, "Lower": {upper.Cert}, "below Issuing": {issuing.Cert},
		"below Other": {other.Cert}, "below CA A": {aByB.Cert}, "CA A": {bByA.Cert}, "CA B": {aByB.Cert},
	}
	endless := newAuthority(t, "CA 100", nil)
	for i := 99; i >= 0; i-- {
		name := fmt.Sprintf("CA %d", i)
		n.issuers[name] = []*x509.Certificate{endless.Cert}
		endless = newAuthority(t, name, endless)
	}
	for _, test := range []struct {
		name     string
		cert     *certtest.Pair
		known    []*x509.Certificate
		roots    *x509.CertPool
		chain    []string // nil: no chain
		requests []string
		errs     []error
	}{
		{"two issuers", newSigner(t, "below Lower", lower), nil, n.roots, []string{"below Lower", "Lower", "Upper", "Root"},
			[]string{"issuer of below Lower", "issuer of Lower", "status of below Lower", "status of Lower", "status of Upper"}, nil},
		{"known certificate of the issuer expired", newSigner(t, "below Issuing", issuing), []*x509.Certificate{renewed.Cert, n.root.Cert}, n.roots,
			[]string{"below Issuing", "Issuing", "Root"}, []string{"issuer of below Issuing", "status of below Issuing", "status of Issuing"}, nil},
		{"no newer certificate of the issuer", newSigner(t, "alone", issuing), []*x509.Certificate{renewed.Cert, n.root.Cert}, n.roots,
			nil, []string{"issuer of alone", "issuer of Issuing"}, []error{ades.ErrOutsideValidity, ades.ErrUnavailable}},
		{"authorities that certified each other", newSigner(t, "below CA A", a), nil, n.roots,
			nil, []string{"issuer of below CA A", "issuer of CA A", "issuer of CA B"}, []error{ades.ErrNoChain}},
		{"more issuers than allowed", endless, nil, n.roots,
			nil, []string{"issuer of CA 0", "issuer of CA 1", "issuer of CA 2", "issuer of CA 3"}, []error{ades.ErrNoChain}},
		{"another root", newSigner(t, "below Other", other), nil, n.roots, nil, []string{"issuer of below Other"}, []error{ades.ErrNoChain}},
		{"no roots", newSigner(t, "below Other", other), nil, nil, nil, nil, []error{ades.ErrNoChain}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n.roots, n.requests = test.roots, nil
			data, err := n.collect(test.known, Target{Certificate: test.cert.Cert, BestSignatureTime: time.Now()})
			if diff := cmp.Diff(test.requests, n.requests); diff != "" {
				t.Errorf("requests, -want +got:\n%s", diff)
			}
			for _, want := range test.errs {
				if !errors.Is(err, want) {
					t.Errorf("got error %v, want %v", err, want)
				}
			}
			if test.chain == nil {
				return
			}
			testenv.NoError(t, err)
			if diff := cmp.Diff(test.chain, names(data)); diff != "" {
				t.Errorf("chain, -want +got:\n%s", diff)
			}
		})
	}
}

// TestManyOfOneName checks that the issuer is found among many certificates that have its name, and that none of those
// is taken for it.
func TestManyOfOneName(t *testing.T) {
	n := newNetwork(t)
	issuing := newAuthority(t, "Issuing", n.root)
	signer := newSigner(t, "A", issuing).Cert
	n.respondAbout("A", issuing)
	n.respondAbout("Issuing", n.root)
	known := []*x509.Certificate{issuing.Cert}
	for range 2 * maxChecks {
		known = append(known, newAuthority(t, "Issuing", nil).Cert)
	}
	if _, err := n.collect(known, Target{Certificate: signer, BestSignatureTime: time.Now()}); err != nil {
		t.Error(err)
	}
	if found := (chainBuilder{n.known(known[1:]...), new(Data)}).ancestors(signer); len(found) != 1 {
		t.Errorf("got %d certificates from the signer upwards without the issuer, want 1", len(found))
	}
}

// TestCheckSerialNumbers checks that two certificates of an authority with the same serial number are found.
func TestCheckSerialNumbers(t *testing.T) {
	n := newNetwork(t)
	serial := func(c *x509.Certificate) { c.SerialNumber = big.NewInt(7) }
	ca := newAuthority(t, "CA", n.root, serial)
	again := certtest.NewForKey(t, "CA", ca.Key, n.root, certtest.Authority, serial).Cert // with another signature value
	chain := []*x509.Certificate{newSigner(t, "A", ca).Cert, ca.Cert, n.root.Cert}
	if err := n.known(ca.Cert).checkSerialNumbers(chain); err != nil {
		t.Errorf("one certificate: %v", err)
	}
	if err := n.known(ca.Cert, again).checkSerialNumbers(chain); err == nil {
		t.Error("two certificates: got no error")
	}
}

// TestHasWeakChain checks that a chain to a root with a SHA-1 signature is found, also beside one without. The
// self-signature of a root is not part of a chain.
func TestHasWeakChain(t *testing.T) {
	n := newNetwork(t)
	sha1 := func(c *x509.Certificate) { c.SignatureAlgorithm = x509.ECDSAWithSHA1 }
	ca, weak, other := newAuthority(t, "CA", n.root), newAuthority(t, "Weak CA", n.root, sha1), newAuthority(t, "Other root", nil)
	strongFirst, weakFirst := newAuthority(t, "Strong first", n.root), newAuthority(t, "Weak first", n.root, sha1)
	weakSecond := certtest.NewForKey(t, "Strong first", strongFirst.Key, n.root, certtest.Authority, sha1)
	strongSecond := certtest.NewForKey(t, "Weak first", weakFirst.Key, n.root, certtest.Authority)
	oldRoot := newAuthority(t, "Reissued root", nil, sha1)
	newRoot := certtest.NewForKey(t, "Reissued root", oldRoot.Key, nil, certtest.Authority)
	n.roots.AddCert(oldRoot.Cert)
	n.roots.AddCert(newRoot.Cert)
	noKeyID := *ca.Cert
	noKeyID.SubjectKeyId = nil
	data := &Data{Certificates: []*x509.Certificate{ca.Cert, weak.Cert, n.root.Cert, other.Cert, strongFirst.Cert, weakSecond.Cert,
		weakFirst.Cert, strongSecond.Cert, oldRoot.Cert, newRoot.Cert}}
	for name, test := range map[string]struct {
		cert *certtest.Pair
		want bool
	}{
		"signer with SHA-1":                    {newSigner(t, "A", ca, sha1), true},
		"SHA-1 without a key identifier":       {newSigner(t, "A", &certtest.Pair{Cert: &noKeyID, Key: ca.Key}, sha1), true},
		"authority with SHA-1":                 {newSigner(t, "A", weak), true},
		"authority reissued with SHA-1":        {newSigner(t, "A", strongFirst), true},
		"authority reissued without SHA-1":     {newSigner(t, "A", weakFirst), true},
		"no SHA-1":                             {newSigner(t, "A", ca), false},
		"root reissued without SHA-1":          {newSigner(t, "A", oldRoot), false},
		"signer with SHA-1 below another root": {newSigner(t, "A", other, sha1), false},
	} {
		if got := data.HasWeakChain(n.known(), test.cert.Cert); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}

// TestHasWeakChainLimit checks that the work is limited however many certificates the authorities have.
func TestHasWeakChainLimit(t *testing.T) {
	n := newNetwork(t)
	upper := newAuthority(t, "Upper", nil)
	ca, data := newAuthority(t, "CA", upper), new(Data)
	for range 2 * maxChecks {
		data.Certificates = append(data.Certificates, certtest.NewForKey(t, "CA", ca.Key, upper, certtest.Authority).Cert, newAuthority(t, "Upper", nil).Cert)
	}
	signer := newSigner(t, "A", ca, func(c *x509.Certificate) { c.SignatureAlgorithm = x509.ECDSAWithSHA1 })
	known := n.known()
	data.ShareLimit(known).indexed() // hashes the certificates
	before := known.work.remaining
	data.HasWeakChain(known, signer.Cert)
	const limit = maxChecks + 2*maxAncestors
	if got := (before - known.work.remaining) / signatureWork; got < maxAncestors || got > limit {
		t.Errorf("verified %d signatures, want at most %d", got, limit)
	}
}

// TestCheckChain checks that the keys of authorities and of the signers of revocation data have to be long enough
// (ETSI TS 119 312).
func TestCheckChain(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	testenv.NoError(t, err)
	root := newAuthority(t, "Root", nil)
	weak := certtest.NewForKey(t, "Weak", key, root, certtest.Authority)
	chain := []*x509.Certificate{newSigner(t, "A", weak).Cert, weak.Cert, root.Cert}
	if err := CheckChain(chain, time.Now()); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("below an authority with 1024 bits: got %v, want ErrAlgorithm", err)
	}
	if err := CheckChain(chain[1:], time.Now()); err != nil {
		t.Errorf("that authority below the root: %v", err)
	}
	if err := (Answer{Signer: weak.Cert}).checkAlgorithms(weak.Cert, time.Now()); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("revocation data of that authority: got %v, want ErrAlgorithm", err)
	}
}

// TestWorkGrowsWithTheDocument checks that the work for a document grows in proportion to it, even if all authorities
// have one name and each signature needs all of the data.
func TestWorkGrowsWithTheDocument(t *testing.T) {
	work := func(signatures int) int64 {
		n := newNetwork(t)
		data := &Data{Certificates: []*x509.Certificate{n.root.Cert}, CRLs: [][]byte{newList(t, n.root, time.Now())}}
		var targets []Target
		var roots []*x509.Certificate
		for range signatures {
			root := newAuthority(t, "Root", nil)
			roots = append(roots, root.Cert)
			targets = append(targets, Target{Certificate: newSigner(t, "TSA", root).Cert}, Target{Certificate: newSigner(t, "A", n.root).Cert})
		}
		known := n.known().With(roots...)
		data.ShareLimit(known)
		for range signatures {
			data.Missing(known, targets...)
		}
		return maxWork - known.work.remaining
	}
	if few, many := work(8), work(32); few == 0 || many > 5*few {
		t.Errorf("got %d for 8 signatures and %d for 32, want at most 5 times as much", few, many)
	}
}

// TestChainOfHandledExtension checks that the chain of a certificate whose critical extension was handled is not
// returned for the same certificate before that.
func TestChainOfHandledExtension(t *testing.T) {
	n := newNetwork(t)
	critical := newSigner(t, "A", n.root, certtest.Extended(pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 16}, Critical: true, Value: []byte{0x30, 0}})).Cert
	handled := *critical
	handled.UnhandledCriticalExtensions = nil
	at := time.Now()
	for _, order := range [][]*x509.Certificate{{critical, &handled}, {&handled, critical}} {
		known := n.known()
		data := new(Data).ShareLimit(known)
		for _, c := range order {
			_, err := data.Chain(known, c, at)
			if anchored := known.isAnchored(c); (err == nil) != (c == &handled) || anchored != (c == &handled) {
				t.Errorf("handled %t: anchored %t, %v", c == &handled, anchored, err)
			}
		}
	}
}
