package online_test

import (
	"crypto/x509"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/internal/pki/der"
)

// RFC 5280: what stands at a distribution point, and what comes of it, for a signer of
// just now. An older list says enough where the authority has no responder.
func TestCRL(t *testing.T) {
	w, stranger := newWorld(t), newWorld(t)
	byList, byBoth := w.signer(t, nil, []string{"/crl"}), w.signer(t, []string{"/ocsp"}, []string{"/crl"})
	byLDAP := w.signer(t, nil, []string{"/crl"})
	byLDAP.cert.OCSPServer = []string{"ldap://host/cn=ocsp"}
	now := time.Now()
	huge, others := make([]byte, 65<<20), make([]*big.Int, 0, 1000)
	for i := range int64(1000) {
		others = append(others, big.NewInt(i+2))
	}
	lasts := func(from, to time.Duration) http.Handler {
		return body(list(t, w.root, x509.RevocationList{ThisUpdate: now.Add(from), NextUpdate: now.Add(to)}))
	}
	for name, test := range map[string]struct {
		signer      pair
		signed      time.Duration // from now
		serve       http.Handler
		err         string
		unavailable bool
	}{
		"empty list":                         {signer: byList, serve: body(list(t, w.root, x509.RevocationList{}))},
		"others revoked":                     {signer: byList, serve: body(list(t, w.root, x509.RevocationList{}, others...))},
		"before the signature":               {signer: byList, serve: lasts(-time.Minute, time.Hour)},
		"before it, a responder in LDAP":     {signer: byLDAP, serve: lasts(-time.Minute, time.Hour)},
		"before it, a responder is named":    {signer: byBoth, serve: lasts(-time.Minute, time.Hour)},
		"after it, a responder is named":     {signer: byBoth, serve: lasts(0, time.Hour)},
		"the next one before the signature":  {signer: byList, signed: 30 * time.Second, serve: lasts(-time.Minute, 20*time.Second), err: "thisUpdate", unavailable: true},
		"stale":                              {signer: byList, serve: lasts(-50*time.Minute, -time.Minute), err: "nextUpdate", unavailable: true},
		"from the future":                    {signer: byList, serve: lasts(10*time.Minute, time.Hour), err: "future"},
		"without nextUpdate":                 {signer: byList, serve: body(withoutNextUpdate(t, w.root)), err: "without nextUpdate"},
		"of another authority":               {signer: byList, serve: body(list(t, stranger.root, x509.RevocationList{})), err: "crl: "},
		"garbage":                            {signer: byList, serve: body([]byte("garbage")), err: "malformed"},
		"65 MB":                              {signer: byList, serve: body(huge), err: "too large"},
		"65 MB, of which the head says less": {signer: byList, serve: chunked(huge), err: "too large"},
		"cut off":                            {signer: byList, serve: cutOff(1000), err: "EOF", unavailable: true},
		"large, cut off":                     {signer: byList, serve: cutOff(10 << 20), err: "EOF", unavailable: true},
		"down":                               {signer: byList, serve: status(500), err: "500", unavailable: true},
	} {
		t.Run(name, func(t *testing.T) {
			w.only("/crl", test.serve)
			proof, err := (&online.Revocation{Client: local()}).Revocation(t.Context(), test.signer.cert, w.root.cert, now.Add(test.signed))
			if test.err == "" {
				if err != nil || proof.CRL == nil || proof.OCSP != nil {
					t.Error(err)
				}
				return
			}
			if proof.CRL != nil || !errors.Is(err, ades.ErrNoRevocation) || !strings.Contains(err.Error(), test.err) {
				t.Errorf("want %q: %v", test.err, err)
			}
			if errors.Is(err, ades.ErrUnavailable) != test.unavailable {
				t.Errorf("whether it may help to ask again is wrong: %v", err)
			}
		})
	}
}

// chunked does not say how long the answer is.
func chunked(content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		w.Write(content)
	})
}

// cutOff says that the answer is longer than it is.
func cutOff(size int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", big.NewInt(int64(size)).String())
		w.Write(make([]byte, size/2))
	})
}

// withoutNextUpdate is a list that leaves the field out, against RFC 5280 5.1.2.5.
func withoutNextUpdate(t *testing.T, issuer pair) []byte {
	t.Helper()
	head, fields := splitList(t, list(t, issuer, x509.RevocationList{}), cbasn1.INTEGER, cbasn1.SEQUENCE, cbasn1.SEQUENCE, cbasn1.UTCTime)
	if !fields.SkipASN1(cbasn1.UTCTime) {
		t.Fatal("no nextUpdate")
	}
	return signedList(t, issuer, func(b *cryptobyte.Builder) {
		b.AddBytes(head)
		b.AddBytes(fields)
	})
}

// splitList cuts the TBSCertList behind the fields with these tags.
func splitList(t *testing.T, encoded []byte, tags ...cbasn1.Tag) (head, rest cryptobyte.String) {
	t.Helper()
	whole, err := x509.ParseRevocationList(encoded)
	if err != nil {
		t.Fatal(err)
	}
	s := cryptobyte.String(whole.RawTBSRevocationList)
	if !s.ReadASN1(&rest, cbasn1.SEQUENCE) {
		t.Fatal("no TBSCertList")
	}
	head = rest
	for _, tag := range tags {
		if !rest.SkipASN1(tag) {
			t.Fatalf("no field with tag %x", tag)
		}
	}
	return head[:len(head)-len(rest)], rest
}

// signedList is a list of these fields.
func signedList(t *testing.T, issuer pair, fields cryptobyte.BuilderContinuation) []byte {
	t.Helper()
	var b, whole cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, fields)
	tbs, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	signed, err := der.Sign(tbs, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	whole.AddASN1(cbasn1.SEQUENCE, signed.Append)
	encoded, err := whole.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
