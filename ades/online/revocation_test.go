package online_test

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// postOnly is a responder that does not take GET and says so by some answer.
func postOnly(h http.Handler, otherwise http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			otherwise.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}
}

func single(change func(*ocsp.Single)) func(*ocsp.Response) {
	return func(r *ocsp.Response) { change(&r.Singles[0]) }
}

// since is an answer with other times; a zero nextUpdate is left out.
func since(thisUpdate, nextUpdate time.Time) func(*ocsp.Response) {
	return single(func(s *ocsp.Single) { s.ThisUpdate, s.NextUpdate = thisUpdate, nextUpdate })
}

// RFC 6960: what a responder may answer about a signer whose timestamp was made this
// second, and what comes of it.
func TestOCSP(t *testing.T) {
	w := newWorld(t)
	signer := w.signer(t, []string{"/ocsp"}, nil)
	good := delegate(t, w.root, forOCSP())
	stranger := newWorld(t)
	expired := forOCSP()
	expired.NotBefore, expired.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(-time.Minute)
	says := func(change func(*ocsp.Response)) http.Handler { return responder{good, change} }
	refuses := func(why ocsp.Refusal) http.Handler { return body(ocsp.Refuse(why)) }
	now := time.Now()
	second := now.Truncate(time.Second)

	for name, test := range map[string]struct {
		serve       http.Handler
		notBefore   time.Time
		err         string // part of the error; empty: a proof
		unavailable bool
		methods     string // of the requests; empty: GET
	}{
		"good":                           {serve: says(nil)},
		"by the issuer itself":           {serve: responder{w.root, nil}},
		"in the second of the signature": {serve: says(single(func(s *ocsp.Single) { s.ThisUpdate = second })), notBefore: second.Add(999 * time.Millisecond)},
		"in force at the signature":      {serve: says(since(now.Add(-time.Hour), now.Add(time.Hour))), notBefore: second},
		"without nonce":                  {serve: says(func(r *ocsp.Response) { r.Nonce = nil })},
		"without nextUpdate":             {serve: says(single(func(s *ocsp.Single) { s.NextUpdate = time.Time{} }))},
		"half a minute old, without it":  {serve: says(since(now.Add(-30*time.Second), time.Time{})), notBefore: now.Add(-time.Hour)},
		"GET is not allowed":             {serve: postOnly(says(nil), status(405)), methods: "GET POST"},
		"GET is not understood":          {serve: postOnly(says(nil), refuses(ocsp.MalformedRequest)), methods: "GET POST"},
		"GET gives a web page":           {serve: postOnly(says(nil), body([]byte("<html>"))), methods: "GET POST"},

		"another nonce":        {serve: says(func(r *ocsp.Response) { r.Nonce = make([]byte, 32) }), err: "nonce"},
		"another certificate":  {serve: says(single(func(s *ocsp.Single) { s.ID.Serial = big.NewInt(5) })), err: "other certificates"},
		"unknown":              {serve: says(single(func(s *ocsp.Single) { s.Status = ocsp.Unknown })), err: `"unknown"`},
		"not certified for it": {serve: responder{delegate(t, w.root, x509.Certificate{}), nil}, err: "not authorized"},
		"certified by another": {serve: responder{delegate(t, stranger.root, forOCSP()), nil}, err: "not authorized"},
		"by another issuer":    {serve: responder{stranger.root, nil}, err: "not authorized"},
		"by the signer":        {serve: responder{signer, nil}, err: "not authorized"},
		"expired responder":    {serve: responder{delegate(t, w.root, expired), nil}, err: "validity"},
		"expired, dated back":  {serve: responder{delegate(t, w.root, expired), func(r *ocsp.Response) { r.ProducedAt = now.Add(-10 * time.Minute) }}, err: "validity"},
		"two minutes old, without nextUpdate": {
			serve: says(since(now.Add(-2*time.Minute), time.Time{})), notBefore: now.Add(-time.Hour), err: "without a nextUpdate", unavailable: true,
		},
		"from the future":       {serve: says(single(func(s *ocsp.Single) { s.ThisUpdate = now.Add(time.Hour) })), err: "future"},
		"garbage":               {serve: body([]byte("garbage")), err: "malformed", methods: "GET POST"},
		"too large":             {serve: body(make([]byte, 2<<20)), err: "too large"},
		"not for this client":   {serve: refuses(ocsp.Unauthorized), err: "unauthorized"},
		"signed requests alone": {serve: refuses(ocsp.SigRequired), err: "sigRequired"},
		"not there":             {serve: status(404), err: "404", methods: "GET POST"},

		"stale": {serve: says(single(func(s *ocsp.Single) { s.ThisUpdate, s.NextUpdate = now.Add(-time.Hour), now.Add(-time.Minute) })), err: "nextUpdate", unavailable: true},
		"before the signature, without nextUpdate": {serve: says(since(second.Add(-time.Second), time.Time{})), notBefore: second, err: "thisUpdate", unavailable: true},
		"asks to come back":                        {serve: refuses(ocsp.TryLater), err: "tryLater", unavailable: true},
		"internal error":                           {serve: refuses(ocsp.InternalError), err: "internalError", unavailable: true},
		"down for maintenance":                     {serve: status(503), err: "503", unavailable: true},
		"too many requests":                        {serve: status(429), err: "429", unavailable: true},
		"hangs up":                                 {serve: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), err: "EOF", unavailable: true},
	} {
		t.Run(name, func(t *testing.T) {
			w.only("/ocsp", test.serve)
			before := len(w.requests())
			notBefore := test.notBefore
			if notBefore.IsZero() {
				notBefore = now.Add(-time.Second)
			}
			proof, err := (&online.Revocation{Client: local()}).Revocation(t.Context(), signer.cert, w.root.cert, notBefore)
			if got, want := strings.Join(w.requests()[before:], " "), test.methods; want != "" && got != want || want == "" && strings.Contains(got, "POST") {
				t.Errorf("requests %q", got)
			}
			if test.err == "" {
				checkProof(t, proof, err, signer.cert, w.root.cert)
				return
			}
			if proof.OCSP != nil || !errors.Is(err, ades.ErrNoRevocation) || !strings.Contains(err.Error(), test.err) {
				t.Errorf("want %q: %v", test.err, err)
			}
			if errors.Is(err, ades.ErrUnavailable) != test.unavailable {
				t.Errorf("whether it may help to ask again is wrong: %v", err)
			}
		})
	}
}

func checkProof(t *testing.T, proof ades.RevocationData, err error, cert, issuer *x509.Certificate) *ocsp.Response {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	response, err := ocsp.Parse(proof.OCSP)
	if err != nil {
		t.Fatal(err)
	}
	if single, ok := response.For(cert, issuer); !ok || single.Status != ocsp.Good || proof.CRL != nil {
		t.Errorf("%+v", single)
	}
	return response
}

// A request that would make a long address is posted at once (RFC 6960 A.1), and the
// hash of the CertID is the caller's choice.
func TestOCSPPostsWhatIsLong(t *testing.T) {
	w := newWorld(t)
	signer := w.signer(t, []string{"/ocsp/" + strings.Repeat("x", 100)}, nil)
	w.mux.Handle("/", responder{delegate(t, w.root, forOCSP()), nil})
	for h, want := range map[crypto.Hash]crypto.Hash{0: crypto.SHA1, crypto.SHA256: crypto.SHA256} {
		proof, err := (&online.Revocation{Client: local(), Hash: h}).Revocation(t.Context(), signer.cert, w.root.cert, time.Time{})
		response := checkProof(t, proof, err, signer.cert, w.root.cert)
		if got := response.Singles[0].ID.Hash; got != want {
			t.Errorf("CertID by %v, want %v", got, want)
		}
	}
	if diff := cmp.Diff([]string{"POST", "POST"}, w.requests()); diff != "" {
		t.Error(diff)
	}
}

// The proof of a revocation is needed beside its error: the signature may be older.
func TestRevokedComesWithItsProof(t *testing.T) {
	w, signed := newWorld(t), time.Now()
	revoked := single(func(s *ocsp.Single) { s.Status, s.RevokedAt, s.Reason = ocsp.Revoked, revokedAt, 1 })
	w.mux.Handle("/ocsp/", responder{delegate(t, w.root, forOCSP()), revoked})
	byOCSP, byCRL := w.signer(t, []string{"/ocsp"}, []string{"/crl"}), w.signer(t, nil, []string{"/crl"})
	w.mux.Handle("/crl", body(list(t, w.root, x509.RevocationList{}, byCRL.cert.SerialNumber)))
	for name, signer := range map[string]pair{"OCSP": byOCSP, "CRL": byCRL} {
		source := &online.Revocation{Client: local()}
		for _, notBefore := range []time.Time{{}, signed} {
			proof, err := source.Revocation(t.Context(), signer.cert, w.root.cert, notBefore)
			var revoked *ades.RevokedError
			if !errors.Is(err, ades.ErrRevoked) || !errors.As(err, &revoked) || errors.Is(err, ades.ErrNoRevocation) {
				t.Fatalf("%s: %v", name, err)
			}
			if !revoked.At.Equal(revokedAt) || revoked.Reason != 1 || !revoked.Certificate.Equal(signer.cert) || !strings.Contains(err.Error(), "keyCompromise") {
				t.Errorf("%s: %v", name, err)
			}
			if (proof.OCSP != nil) != (name == "OCSP") || (proof.CRL != nil) != (name == "CRL") {
				t.Errorf("%s: proof %v", name, proof)
			}
		}
	}
}

// Ways are tried in order until one gives an answer to rely on.
func TestRevocationTriesOtherWays(t *testing.T) {
	w := newWorld(t)
	w.mux.Handle("/down", status(503))
	w.mux.Handle("/down/", status(503))
	w.mux.Handle("/unknown/", responder{delegate(t, w.root, forOCSP()), single(func(s *ocsp.Single) { s.Status = ocsp.Unknown })})
	w.mux.Handle("/ocsp/", responder{delegate(t, w.root, forOCSP()), nil})
	crl := list(t, w.root, x509.RevocationList{})
	w.mux.Handle("/crl", body(crl))
	source := &online.Revocation{Client: local()}

	signer := w.signer(t, []string{"/down", "/ocsp"}, []string{"/crl"})
	proof, err := source.Revocation(t.Context(), signer.cert, w.root.cert, time.Time{})
	checkProof(t, proof, err, signer.cert, w.root.cert)

	signer = w.signer(t, []string{"/down", "/unknown"}, []string{"/down", "/crl"})
	if proof, err = source.Revocation(t.Context(), signer.cert, w.root.cert, time.Time{}); err != nil || !bytes.Equal(proof.CRL, crl) {
		t.Error(err)
	}

	signer = w.signer(t, []string{"/down", "/unknown"}, nil)
	_, err = source.Revocation(t.Context(), signer.cert, w.root.cert, time.Time{})
	if !errors.Is(err, ades.ErrUnavailable) || !strings.Contains(err.Error(), "/down") || !strings.Contains(err.Error(), "/unknown") {
		t.Error(err)
	}

	signer = w.signer(t, nil, nil)
	signer.cert.OCSPServer = []string{"ldap://host/cn=ocsp", "file:///tmp/ocsp"}
	before := len(w.requests())
	_, err = source.Revocation(t.Context(), signer.cert, w.root.cert, time.Time{})
	if !errors.Is(err, ades.ErrNoRevocation) || errors.Is(err, ades.ErrUnavailable) || len(w.requests()) != before {
		t.Error(err)
	}
}

// A certificate cannot make its validator call a great many addresses.
func TestRevocationFollowsAFewAddresses(t *testing.T) {
	w := newWorld(t)
	many := strings.Split(strings.Repeat("/down ", 50), " ")[:50]
	signer := w.signer(t, many, many)
	w.mux.Handle("/", status(503))
	_, err := (&online.Revocation{Client: local()}).Revocation(t.Context(), signer.cert, w.root.cert, time.Time{})
	if !errors.Is(err, ades.ErrUnavailable) || len(w.requests()) != 8 {
		t.Errorf("%d requests, %v", len(w.requests()), err)
	}
}

// Without a client of the caller's, nothing on this machine is called.
func TestRevocationIsGuardedByDefault(t *testing.T) {
	w := newWorld(t)
	signer := w.signer(t, []string{"/ocsp"}, []string{"/crl"})
	_, err := new(online.Revocation).Revocation(t.Context(), signer.cert, w.root.cert, time.Time{})
	if !errors.Is(err, online.ErrAddress) || !errors.Is(err, ades.ErrNoRevocation) || errors.Is(err, ades.ErrUnavailable) || len(w.requests()) > 0 {
		t.Errorf("%d requests, %v", len(w.requests()), err)
	}
}
