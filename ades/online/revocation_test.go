package online

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// TestOCSP checks the result of each kind of response (RFC 6960) about a signer whose signature was made
// now, or at another time.
func TestOCSP(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	signer := a.signer(t, []string{"/ocsp"}, nil, nil)
	good := delegate(t, a.root)
	expired := issue(t, a.root, x509.Certificate{
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(-time.Minute),
	})
	says := func(change func(*ocsp.Response)) http.Handler { return responder{good, change} }
	refuses := func(why ocsp.Refusal) http.Handler { return body(ocsp.Refuse(why)) }
	now := time.Now()
	second := now.Truncate(time.Second)
	earlier := now.Add(-10 * time.Minute).Truncate(time.Second)
	const get, both = "GET /ocsp", "GET /ocsp POST /ocsp"
	for name, row := range map[string]struct {
		serve       http.Handler
		signed      time.Time // zero: a second ago
		err         string    // part of the error; "": the response is returned
		unavailable bool
		requests    string
	}{
		"good":                                {says(nil), time.Time{}, "", false, get},
		"signed by the issuer":                {responder{a.root, nil}, time.Time{}, "", false, get},
		"thisUpdate in the same second":       {says(since(second, now.Add(time.Hour))), second.Add(999 * time.Millisecond), "", false, get},
		"nextUpdate after the signature":      {says(since(now.Add(-time.Hour), now.Add(time.Hour))), second, "", false, get},
		"no nonce":                            {says(func(r *ocsp.Response) { r.Nonce = nil }), time.Time{}, "", false, get},
		"no nextUpdate, 30 seconds old":       {says(since(now.Add(-30*time.Second), time.Time{})), now.Add(-time.Hour), "", false, get},
		"GET is not allowed":                  {byPOST(says(nil), status(405)), time.Time{}, "", false, both},
		"GET is not understood":               {byPOST(says(nil), refuses(ocsp.MalformedRequest)), time.Time{}, "", false, both},
		"GET returns a web page":              {byPOST(says(nil), body([]byte("<html>"))), time.Time{}, "", false, both},
		"another nonce":                       {says(func(r *ocsp.Response) { r.Nonce = make([]byte, 32) }), time.Time{}, "nonce", false, get},
		"another certificate":                 {says(single(func(s *ocsp.Single) { s.ID.Serial = big.NewInt(5) })), time.Time{}, "other certificates", false, get},
		"status unknown":                      {says(single(func(s *ocsp.Single) { s.Status = ocsp.Unknown })), time.Time{}, `"unknown"`, false, get},
		"signed by another authority":         {responder{other.root, nil}, time.Time{}, "not authorized", false, get},
		"expired responder, earlier response": {responder{expired, func(r *ocsp.Response) { r.ProducedAt = earlier }}, time.Time{}, "validity", false, get},
		"thisUpdate in the future":            {says(since(now.Add(time.Hour), now.Add(2*time.Hour))), time.Time{}, "future", false, get},
		"malformed":                           {body([]byte("garbage")), time.Time{}, "malformed", false, both},
		"too large":                           {body(make([]byte, 2<<20)), time.Time{}, "too large", false, get},
		"unauthorized":                        {refuses(ocsp.Unauthorized), time.Time{}, "unauthorized", false, get},
		"status 404":                          {status(404), time.Time{}, "404", false, both},
		"no nextUpdate, 2 minutes old":        {says(since(now.Add(-2*time.Minute), time.Time{})), now.Add(-time.Hour), "without a nextUpdate", true, get},
		"nextUpdate is past":                  {says(since(now.Add(-time.Hour), now.Add(-time.Minute))), time.Time{}, "nextUpdate", true, get},
		"no nextUpdate, before the signature": {says(since(second.Add(-time.Second), time.Time{})), second, "thisUpdate", true, get},
		"tryLater":                            {refuses(ocsp.TryLater), time.Time{}, "tryLater", true, get},
		"internalError":                       {refuses(ocsp.InternalError), time.Time{}, "internalError", true, get},
		"status 503":                          {status(503), time.Time{}, "503", true, get},
	} {
		t.Run(name, func(t *testing.T) {
			a.reset()
			a.serve("/ocsp", row.serve)
			signed := row.signed
			if signed.IsZero() {
				signed = now.Add(-time.Second)
			}
			data, err := (&Revocation{Client: local()}).Revocation(t.Context(), signer.cert, a.root.cert, signed)
			if got := a.seen(); got != row.requests {
				t.Errorf("requests: got %s, want %s", got, row.requests)
			}
			if row.err == "" {
				checkOCSP(t, data, err, signer.cert, a.root.cert)
				return
			}
			if data.OCSP != nil || !errors.Is(err, ades.ErrNoRevocation) || !strings.Contains(err.Error(), row.err) {
				t.Errorf("got %d bytes, %v; want %q", len(data.OCSP), err, row.err)
			}
			checkUnavailable(t, err, row.unavailable)
		})
	}
}

// TestCRL checks the result of each kind of CRL (RFC 5280) about a signer whose signature is made now, or
// a time later. The signer names only a CRL, a CRL and a responder in LDAP, or a CRL and a responder.
func TestCRL(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	byCRL, byBoth, byLDAP := a.signer(t, nil, []string{"/crl"}, nil), a.signer(t, []string{"/ocsp"}, []string{"/crl"}, nil), a.signer(t, nil, []string{"/crl"}, nil)
	byLDAP.cert.OCSPServer = []string{"ldap://host/cn=ocsp"}
	now, huge := time.Now(), make([]byte, 65<<20)
	serials := make([]*big.Int, 1000)
	for i := range serials {
		serials[i] = big.NewInt(int64(i + 2))
	}
	valid := func(from, to time.Duration) http.Handler { return body(list(t, a.root, now.Add(from), now.Add(to))) }
	for name, row := range map[string]struct {
		signer      pair
		later       time.Duration
		serve       http.Handler
		err         string
		unavailable bool
	}{
		"empty":                                {byCRL, 0, body(list(t, a.root, time.Time{}, time.Time{})), "", false},
		"other certificates revoked":           {byCRL, 0, body(list(t, a.root, time.Time{}, time.Time{}, serials...)), "", false},
		"before the signature":                 {byCRL, 0, valid(-time.Minute, time.Hour), "", false},
		"before the signature, LDAP responder": {byLDAP, 0, valid(-time.Minute, time.Hour), "", false},
		"before the signature, responder":      {byBoth, 0, valid(-time.Minute, time.Hour), "", false},
		"nextUpdate before the signature":      {byCRL, 30 * time.Second, valid(-time.Minute, 20*time.Second), "thisUpdate", true},
		"nextUpdate is past":                   {byCRL, 0, valid(-50*time.Minute, -time.Minute), "nextUpdate", true},
		"thisUpdate in the future":             {byCRL, 0, valid(10*time.Minute, time.Hour), "future", false},
		"no nextUpdate":                        {byCRL, 0, body(withoutNextUpdate(t, a.root)), "without nextUpdate", false},
		"of another authority":                 {byCRL, 0, body(list(t, other.root, time.Time{}, time.Time{})), "crl: ", false},
		"malformed":                            {byCRL, 0, body([]byte("garbage")), "malformed", false},
		"too large":                            {byCRL, 0, body(huge), "too large", false},
		"cut off after a megabyte":             {byCRL, 0, cutOff(10 << 20), "EOF", true},
		"status 500":                           {byCRL, 0, status(500), "500", true},
	} {
		t.Run(name, func(t *testing.T) {
			a.reset()
			a.serve("/crl", row.serve)
			data, err := (&Revocation{Client: local()}).Revocation(t.Context(), row.signer.cert, a.root.cert, now.Add(row.later))
			if row.err == "" {
				if err != nil || data.CRL == nil || data.OCSP != nil {
					t.Errorf("got a CRL of %d bytes, %v", len(data.CRL), err)
				}
				return
			}
			if data.CRL != nil || !errors.Is(err, ades.ErrNoRevocation) || !strings.Contains(err.Error(), row.err) {
				t.Errorf("got %d bytes, %v; want %q", len(data.CRL), err, row.err)
			}
			checkUnavailable(t, err, row.unavailable)
		})
	}
}

// TestOCSPByPOST checks that a request is sent by POST if the address would be too long for GET (RFC 6960
// A.1), and the hash of the CertID.
func TestOCSPByPOST(t *testing.T) {
	a := newAuthority(t)
	signer := a.signer(t, []string{"/ocsp/" + strings.Repeat("x", 100)}, nil, nil)
	a.serve("/ocsp", responder{delegate(t, a.root), nil})
	for h, want := range map[crypto.Hash]crypto.Hash{0: crypto.SHA1, crypto.SHA256: crypto.SHA256} {
		data, err := (&Revocation{Client: local(), Hash: h}).Revocation(t.Context(), signer.cert, a.root.cert, time.Time{})
		response := checkOCSP(t, data, err, signer.cert, a.root.cert)
		if got := response.Singles[0].ID.Hash; got != want {
			t.Errorf("CertID: got %v, want %v", got, want)
		}
	}
	if got := a.seen(); got != "POST /ocsp POST /ocsp" {
		t.Errorf("got %s, want two POST requests", got)
	}
}

// TestRevoked checks that the error comes with the revocation data, because the signature may be earlier.
func TestRevoked(t *testing.T) {
	a := newAuthority(t)
	a.serve("/ocsp", responder{delegate(t, a.root),
		single(func(s *ocsp.Single) { s.Status, s.RevokedAt, s.Reason = ocsp.Revoked, revokedAt, 1 })})
	byOCSP, byCRL := a.signer(t, []string{"/ocsp"}, []string{"/crl"}, nil), a.signer(t, nil, []string{"/crl"}, nil)
	a.serve("/crl", body(list(t, a.root, time.Time{}, time.Time{}, byCRL.cert.SerialNumber)))
	for _, signer := range []pair{byOCSP, byCRL} {
		for _, signed := range []time.Time{{}, time.Now()} {
			data, err := (&Revocation{Client: local()}).Revocation(t.Context(), signer.cert, a.root.cert, signed)
			var revoked *ades.RevokedError
			if !errors.As(err, &revoked) || errors.Is(err, ades.ErrNoRevocation) || !revoked.At.Equal(revokedAt) ||
				revoked.Reason != 1 || !revoked.Certificate.Equal(signer.cert) {
				t.Errorf("got %v, want revoked at %v", err, revokedAt)
			}
			if (data.OCSP != nil) != (signer == byOCSP) || (data.CRL != nil) != (signer == byCRL) {
				t.Errorf("got OCSP response of %d bytes and CRL of %d", len(data.OCSP), len(data.CRL))
			}
		}
	}
}

// TestRevocationSources checks that responders and then CRLs are asked in order until one states the
// status. Addresses other than of HTTP are left out, and four are asked of each kind at most.
func TestRevocationSources(t *testing.T) {
	a := newAuthority(t)
	good := delegate(t, a.root)
	a.serve("/down", status(503))
	a.serve("/unknown", responder{good, single(func(s *ocsp.Single) { s.Status = ocsp.Unknown })})
	a.serve("/ocsp", responder{good, nil})
	a.serve("/crl", body(list(t, a.root, time.Time{}, time.Time{})))
	ctx, cancel := context.WithCancel(t.Context())
	a.serve("/cancel", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }))
	many := slices.Repeat([]string{"/down"}, 50)
	for name, row := range map[string]struct {
		ocsp, crl   []string
		ctx         context.Context
		requests    string
		ok          bool
		unavailable bool
	}{
		"second responder": {[]string{"/down", "/ocsp"}, []string{"/crl"}, t.Context(), "GET /down GET /ocsp", true, false},
		"second CRL":       {[]string{"/down", "/unknown"}, []string{"/down", "/crl"}, t.Context(), "GET /down GET /unknown GET /down GET /crl", true, false},
		"all fail":         {[]string{"/down", "/unknown"}, nil, t.Context(), "GET /down GET /unknown", false, true},
		"many addresses":   {many, many, t.Context(), strings.Repeat("GET /down ", 7) + "GET /down", false, true},
		"no address":       {nil, nil, t.Context(), "", false, false},
		"context ends":     {[]string{"/cancel"}, []string{"/crl"}, ctx, "GET /cancel", false, true},
	} {
		signer := a.signer(t, row.ocsp, row.crl, nil)
		signer.cert.OCSPServer = append([]string{"ldap://host/cn=ocsp", "file:///tmp/ocsp"}, signer.cert.OCSPServer...)
		data, err := (&Revocation{Client: local()}).Revocation(row.ctx, signer.cert, a.root.cert, time.Time{})
		if got := a.seen(); got != row.requests || (err == nil) != row.ok || !row.ok && !errors.Is(err, ades.ErrNoRevocation) {
			t.Errorf("%s: got %v by %s, want %s", name, err, got, row.requests)
		}
		if row.ok != (data.OCSP != nil || data.CRL != nil) {
			t.Errorf("%s: got OCSP response of %d bytes and CRL of %d", name, len(data.OCSP), len(data.CRL))
		}
		checkUnavailable(t, err, row.unavailable)
		for _, path := range row.ocsp {
			if !row.ok && !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v does not name %s", name, err, path)
			}
		}
	}
	signer := a.signer(t, []string{"/ocsp"}, []string{"/crl"}, nil)
	if _, err := new(Revocation).Revocation(t.Context(), signer.cert, a.root.cert, time.Time{}); !errors.Is(err, ErrAddress) || a.seen() != "" {
		t.Errorf("default client: got %v, want %v", err, ErrAddress)
	}
}

// TestRevocationCache checks which requests are answered from the cache: those without the time of a
// signature, for good certificates with a nextUpdate. A CRL serves all certificates of the issuer.
func TestRevocationCache(t *testing.T) {
	a := newAuthority(t)
	good := delegate(t, a.root)
	a.serve("/ocsp", responder{good, nil})
	a.serve("/revoked", responder{good, single(func(s *ocsp.Single) { s.Status, s.RevokedAt = ocsp.Revoked, revokedAt })})
	a.serve("/unknown", responder{good, single(func(s *ocsp.Single) { s.Status = ocsp.Unknown })})
	a.serve("/endless", responder{good, single(func(s *ocsp.Single) { s.NextUpdate = time.Time{} })})
	a.serve("/crl", body(list(t, a.root, time.Time{}, time.Time{})))
	source, signed := &Revocation{Client: local()}, time.Now()
	byOCSP, other := a.signer(t, []string{"/ocsp"}, nil, nil), a.signer(t, []string{"/ocsp"}, nil, nil)
	byCRL, otherByCRL := a.signer(t, nil, []string{"/crl"}, nil), a.signer(t, nil, []string{"/crl"}, nil)
	revoked, unknown, endless := a.signer(t, []string{"/revoked"}, nil, nil), a.signer(t, []string{"/unknown"}, nil, nil), a.signer(t, []string{"/endless"}, nil, nil)
	for i, step := range []struct {
		signer   pair
		signed   time.Time
		requests string
	}{
		{byOCSP, signed, "GET /ocsp"},
		{byOCSP, time.Time{}, "GET /ocsp"},
		{byOCSP, time.Time{}, ""},
		{other, time.Time{}, "GET /ocsp"},
		{byOCSP, signed, "GET /ocsp"},
		{byOCSP, signed, "GET /ocsp"},
		{byCRL, signed, "GET /crl"},
		{byCRL, time.Time{}, "GET /crl"},
		{byCRL, time.Time{}, ""},
		{otherByCRL, time.Time{}, ""},
		{byCRL, signed, "GET /crl"},
		{byOCSP, time.Time{}, ""},
		{revoked, time.Time{}, "GET /revoked"},
		{revoked, time.Time{}, "GET /revoked"},
		{unknown, time.Time{}, "GET /unknown"},
		{unknown, time.Time{}, "GET /unknown"},
		{endless, time.Time{}, "GET /endless"},
		{endless, time.Time{}, "GET /endless"},
	} {
		_, err := source.Revocation(t.Context(), step.signer.cert, a.root.cert, step.signed)
		if got := a.seen(); got != step.requests || (err == nil) != (step.signer != revoked && step.signer != unknown) {
			t.Errorf("step %d: got %v by %q, want %q", i, err, got, step.requests)
		}
	}
}

// TestRevocationBatch checks that a batch asks about each signer once, and fetches each CRL once.
func TestRevocationBatch(t *testing.T) {
	a := newAuthority(t)
	a.serve("/ocsp", responder{delegate(t, a.root), nil})
	a.serve("/crl", body(list(t, a.root, time.Time{}, time.Time{})))
	source := &Revocation{Client: local(), Batch: true}
	byOCSP, other := a.signer(t, []string{"/ocsp"}, nil, nil), a.signer(t, []string{"/ocsp"}, nil, nil)
	byCRL, otherByCRL := a.signer(t, nil, []string{"/crl"}, nil), a.signer(t, nil, []string{"/crl"}, nil)
	for i, step := range []struct {
		signer    pair
		notBefore time.Time
		requests  string
	}{
		{byOCSP, byOCSP.cert.NotBefore, "GET /ocsp"},
		{byOCSP, byOCSP.cert.NotBefore, ""},
		{other, other.cert.NotBefore, "GET /ocsp"},
		{byCRL, byCRL.cert.NotBefore, "GET /crl"},
		{otherByCRL, otherByCRL.cert.NotBefore, ""},
		{byCRL, time.Time{}, ""},
	} {
		_, err := source.Revocation(t.Context(), step.signer.cert, a.root.cert, step.notBefore)
		if got := a.seen(); got != step.requests || err != nil {
			t.Errorf("step %d: got %v by %q, want %q", i, err, got, step.requests)
		}
	}
	if _, err := source.Revocation(t.Context(), byCRL.cert, a.root.cert, time.Now().AddDate(1, 0, 0)); !errors.Is(err, ades.ErrUnavailable) {
		t.Errorf("list that does not cover notBefore: got %v", err)
	}
}

// byPOST answers POST by one handler and GET by another.
func byPOST(post, get http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			get.ServeHTTP(w, r)
			return
		}
		post.ServeHTTP(w, r)
	}
}

func single(change func(*ocsp.Single)) func(*ocsp.Response) {
	return func(r *ocsp.Response) { change(&r.Singles[0]) }
}

// since changes the times of a response. A zero nextUpdate is left out.
func since(thisUpdate, nextUpdate time.Time) func(*ocsp.Response) {
	return single(func(s *ocsp.Single) { s.ThisUpdate, s.NextUpdate = thisUpdate, nextUpdate })
}

func checkOCSP(t *testing.T, data ades.RevocationData, err error, cert, issuer *x509.Certificate) *ocsp.Response {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	response, err := ocsp.Parse(data.OCSP)
	if err != nil {
		t.Fatal(err)
	}
	if single, ok := response.For(cert, issuer); !ok || single.Status != ocsp.Good || data.CRL != nil {
		t.Errorf("got %+v and a CRL of %d bytes", single, len(data.CRL))
	}
	return response
}

// withoutNextUpdate makes a CRL without a nextUpdate, which RFC 5280 5.1.2.5 requires.
func withoutNextUpdate(t *testing.T, issuer pair) []byte {
	t.Helper()
	whole, err := x509.ParseRevocationList(list(t, issuer, time.Time{}, time.Time{}))
	if err != nil {
		t.Fatal(err)
	}
	tbs := cryptobyte.String(whole.RawTBSRevocationList)
	var fields, field cryptobyte.String
	if !tbs.ReadASN1(&fields, cbasn1.SEQUENCE) {
		t.Fatal("no TBSCertList")
	}
	var shorter, signed cryptobyte.Builder
	shorter.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for i := 0; !fields.Empty(); i++ { // version, signature, issuer, thisUpdate, nextUpdate
			var tag cbasn1.Tag
			if !fields.ReadAnyASN1Element(&field, &tag) {
				b.SetError(fmt.Errorf("field %d", i))
				return
			}
			if i != 4 {
				b.AddBytes(field)
			}
		}
	})
	signature, err := der.Sign(shorter.BytesOrPanic(), issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	signed.AddASN1(cbasn1.SEQUENCE, signature.Append)
	return signed.BytesOrPanic()
}
