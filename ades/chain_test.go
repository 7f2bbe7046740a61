package ades

import (
	"bytes"
	"context"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// TestErrorsNameNoPerson checks that errors about chains, which are logged, identify a certificate by
// issuer and serial number (RFC 5280 4.1.2.2), and contain no name or address of a person.
func TestErrorsNameNoPerson(t *testing.T) {
	key := certtest.NewKey(t, elliptic.P256())
	authority := certtest.Issue(t, x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Authority"}, PermittedEmailAddresses: []string{"elsewhere.test"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, key, nil, nil)
	person := certtest.Issue(t, x509.Certificate{
		SerialNumber: big.NewInt(0x1f2e), Subject: pkix.Name{CommonName: "Jane Doe", SerialNumber: "0101302989"}, EmailAddresses: []string{"jane@doe.test"},
	}, key, authority, key)
	for want, cert := range map[string]*x509.Certificate{"certificate 0x1f2e issued by CN=Authority": person, "self-issued certificate 0x1": authority} {
		if got := Identify(cert); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	_, forbidden := Chain(person, nil, roots, time.Now())
	_, untrusted := Chain(person, nil, x509.NewCertPool(), time.Now())
	_, noRoots := Chain(person, nil, nil, time.Now())
	_, expired := Chain(person, nil, roots, time.Now().AddDate(1, 0, 0))
	for name, row := range map[string]struct{ err, want error }{
		"forbidden address":        {forbidden, ErrNoChain},
		"no root":                  {untrusted, ErrNoChain},
		"nil roots":                {noRoots, ErrNoChain},
		"expired":                  {expired, ErrOutsideValidity},
		"another issuer":           {CheckIssuer(authority, person), ErrNoChain},
		"another key of that name": {CheckIssuer(person, issue(t, "Authority", nil, certified{}).Certificate), ErrNoChain},
	} {
		text := strings.ToLower(row.err.Error())
		if !errors.Is(row.err, row.want) || strings.Contains(text, "doe") || strings.Contains(text, "0101302989") {
			t.Errorf("%s: got %v, want %v without the person", name, row.err, row.want)
		}
	}
}

// TestNegativeSerialNumber parses a certificate with a negative serial number, as some authorities of the
// European Union have issued them (RFC 5280 4.1.2.2). godebug in go.mod allows it.
func TestNegativeSerialNumber(t *testing.T) {
	der := certtest.Issue(t, x509.Certificate{SerialNumber: big.NewInt(0x11223344)}, certtest.NewKey(t, elliptic.P256()), nil, nil).Raw
	c, err := x509.ParseCertificate(bytes.Replace(der, []byte{0x11, 0x22, 0x33, 0x44}, []byte{0x91, 0x22, 0x33, 0x44}, 1))
	if err != nil {
		t.Fatal(err)
	}
	if c.SerialNumber.Sign() >= 0 || !strings.Contains(Identify(c), "0x6eddccbc") {
		t.Errorf("got %v, %s", c.SerialNumber, Identify(c))
	}
}

// TestLongIssuerKey checks that a certificate signed with a key above the limit has no chain, although
// crypto/x509 verifies it.
func TestLongIssuerKey(t *testing.T) {
	root := issue(t, "Root", nil, certified{})
	long := newLongKey(t)
	above := issue(t, "Above", long, root)
	below := issue(t, "Below", root.key, above)
	if err := below.CheckSignatureFrom(above.Certificate); err != nil {
		t.Fatalf("crypto/x509: %v", err)
	}
	if chain, err := Chain(above.Certificate, nil, poolOf(root), time.Now()); err != nil || len(chain) != 2 {
		t.Errorf("chain of the long key: got %d certificates, %v", len(chain), err)
	}
	_, err := Chain(below.Certificate, list(above), poolOf(root), time.Now())
	for name, row := range map[string]struct{ err, want error }{
		"chain over a long key":   {err, ErrNoChain},
		"long key":                {CheckIssuer(below.Certificate, above.Certificate), ErrAlgorithm},
		"key of usual length":     {CheckIssuer(above.Certificate, root.Certificate), nil},
		"issuer of another name":  {CheckIssuer(below.Certificate, root.Certificate), ErrNoChain},
		"issuer of the same name": {CheckIssuer(below.Certificate, issue(t, "Above", nil, root).Certificate), ErrNoChain},
	} {
		if !errors.Is(row.err, row.want) {
			t.Errorf("%s: got %v, want %v", name, row.err, row.want)
		}
	}
}

// TestPool checks that an issuer is found by its name and the identifier of its key (RFC 5280 4.1.2.4 and
// 4.2.1.1).
func TestPool(t *testing.T) {
	root, namesake, other := issue(t, "Root", nil, certified{}), issue(t, "Root", nil, certified{}), issue(t, "Other", nil, certified{})
	below := issue(t, "Below", nil, root).Certificate
	withoutAuthorityID, withoutSubjectID := *below, *root.Certificate
	withoutAuthorityID.AuthorityKeyId, withoutSubjectID.SubjectKeyId = nil, nil
	bare := certified{Certificate: &withoutSubjectID}
	for name, row := range map[string]struct {
		pool []*x509.Certificate
		cert *x509.Certificate
		want []*x509.Certificate
	}{
		"name and key":                  {list(namesake, other, root), below, list(root)},
		"certificate without authority": {list(namesake, root), &withoutAuthorityID, list(namesake, root)},
		"issuer without identifier":     {list(namesake, bare), below, list(bare)},
		"another name":                  {list(other), below, nil},
	} {
		got, err := NewPool(row.pool...).Issuers(t.Context(), row.cert)
		if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// source returns the same to all callers, and counts them.
type source struct {
	found []*x509.Certificate
	err   error
	calls int
}

func (s *source) Issuers(context.Context, *x509.Certificate) ([]*x509.Certificate, error) {
	s.calls++
	return s.found, s.err
}

// TestIssuersInOrder checks that the second source is asked only if the first has no issuer that is valid
// now, and that nothing is asked after the context has ended.
func TestIssuersInOrder(t *testing.T) {
	root, namesake := issue(t, "Root", nil, certified{}), issue(t, "Root", nil, certified{})
	expired := certified{certtest.Issue(t, x509.Certificate{
		Subject: root.Subject, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
	}, root.key, nil, nil), root.key}
	below := issue(t, "Below", nil, root)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	firstErr, secondErr := errors.New("first"), errors.New("second")
	for name, row := range map[string]struct {
		ctx           context.Context
		first, second source
		want          []*x509.Certificate
		calls         int // of the second source
		errs          []error
	}{
		"issuer in the first source":  {t.Context(), source{found: list(root)}, source{found: list(root)}, list(root), 0, nil},
		"issuer in the second source": {t.Context(), source{}, source{found: list(namesake, below, root)}, list(root), 1, nil},
		"same name in the first":      {t.Context(), source{found: list(namesake)}, source{found: list(root)}, list(root), 1, nil},
		"expired issuer in the first": {t.Context(), source{found: list(expired)}, source{found: list(root)}, list(expired, root), 1, nil},
		"only an expired issuer":      {t.Context(), source{found: list(expired)}, source{err: secondErr}, list(expired), 1, nil},
		"the first source fails":      {t.Context(), source{err: firstErr}, source{found: list(root)}, list(root), 1, nil},
		"both sources fail":           {t.Context(), source{err: firstErr}, source{err: secondErr}, nil, 1, []error{firstErr, secondErr}},
		"no issuer":                   {t.Context(), source{}, source{found: list(namesake)}, nil, 1, nil},
		"context ended":               {ended, source{err: ended.Err()}, source{found: list(root)}, nil, 0, []error{context.Canceled}},
	} {
		got, err := IssuersInOrder{&row.first, &row.second}.Issuers(row.ctx, below.Certificate)
		if diff := cmp.Diff(row.want, got); diff != "" || (err != nil) != (len(row.errs) > 0) || row.second.calls != row.calls {
			t.Errorf("%s: %v, the second source was called %d times, want %d (-want +got):\n%s", name, err, row.second.calls, row.calls, diff)
		}
		for _, want := range row.errs {
			if !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", name, err, want)
			}
		}
	}
	if got, err := (IssuersInOrder{}).Issuers(t.Context(), below.Certificate); got != nil || err != nil {
		t.Errorf("no sources: got %v, %v", got, err)
	}
}

// certified is a certificate with its key.
type certified struct {
	*x509.Certificate
	key crypto.Signer
}

// issue makes the certificate of an authority for a key (nil: a new one). With the zero issuer it is
// self-signed.
func issue(t *testing.T, name string, key crypto.Signer, issuer certified) certified {
	t.Helper()
	if key == nil {
		key = certtest.NewKey(t, elliptic.P256())
	}
	template := x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	return certified{certtest.Issue(t, template, key, issuer.Certificate, issuer.key), key}
}

func list(all ...certified) (certificates []*x509.Certificate) {
	for _, c := range all {
		certificates = append(certificates, c.Certificate)
	}
	return certificates
}

func poolOf(root certified) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(root.Certificate)
	return pool
}

// longKey is an RSA key of more than 8192 bits. Its modulus has many small primes, because large ones
// would take minutes to find.
type longKey struct {
	public  rsa.PublicKey
	private *big.Int // exponent
}

func newLongKey(t *testing.T) longKey {
	t.Helper()
	one, e := big.NewInt(1), big.NewInt(65537)
	n, order := big.NewInt(1), big.NewInt(1)
	for n.BitLen() <= 8192 {
		p, err := rand.Prime(rand.Reader, 512)
		if err != nil {
			t.Fatal(err)
		}
		n.Mul(n, p)
		order.Mul(order, p.Sub(p, one))
	}
	private := new(big.Int).ModInverse(e, order)
	if private == nil {
		t.Fatal("65537 divides a prime less one")
	}
	return longKey{rsa.PublicKey{N: n, E: int(e.Int64())}, private}
}

func (k longKey) Public() crypto.PublicKey { return &k.public }

// Sign is RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 8.2.1 and 9.2).
func (k longKey) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	prefix, err := hex.DecodeString("003031300d060960864801650304020105000420")
	if err != nil {
		return nil, err
	}
	encoded := append(prefix, digest...)
	padding := bytes.Repeat([]byte{0xff}, k.public.Size()-len(encoded)-2)
	padded := new(big.Int).SetBytes(slices.Concat([]byte{0, 1}, padding, encoded))
	return padded.Exp(padded, k.private, k.public.N).FillBytes(make([]byte, k.public.Size())), nil
}
