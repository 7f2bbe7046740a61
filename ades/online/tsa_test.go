package online_test

import (
	"crypto"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

var (
	ourPolicy   = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 1}
	otherPolicy = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 2}

	imprint = sha256.Sum256([]byte("a signature value"))
)

// timestampingUsage is the extended key usage of RFC 3161 2.3, critical as it has to
// be or not.
func timestampingUsage(critical bool) []pkix.Extension {
	return []pkix.Extension{{
		Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: critical,
		Value: []byte{0x30, 0x0a, 0x06, 0x08, 0x2b, 6, 1, 5, 5, 7, 3, 8},
	}}
}

func (w *world) unit(t *testing.T, template x509.Certificate) tsp.Unit {
	t.Helper()
	template.Subject = pkix.Name{Country: []string{"IS"}, CommonName: "Test TSA"}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	if template.ExtraExtensions == nil {
		template.ExtraExtensions = timestampingUsage(true)
	}
	p := issue(t, w.root, &template)
	return tsp.Unit{Certificate: p.cert, Chain: []*x509.Certificate{w.root.cert}, Key: p.key, Policy: ourPolicy}
}

// unitBelow is an authority under an intermediate, which its tokens do not carry.
func (w *world) unitBelow(t *testing.T) (between pair, u tsp.Unit) {
	t.Helper()
	between = issue(t, w.root, &x509.Certificate{Subject: pkix.Name{CommonName: "Test Intermediate"}, IsCA: true, KeyUsage: x509.KeyUsageCertSign})
	under := world{root: between}
	u = under.unit(t, x509.Certificate{})
	u.Chain = nil
	return between, u
}

// answering is a timestamp authority over HTTP (RFC 3161 3.4).
func answering(respond func(request []byte) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/timestamp-query" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/timestamp-reply")
		w.Write(respond(request))
	}
}

// asked about something else than the client asked: what change makes of the request.
func changed(t *testing.T, u tsp.Unit, change func(*tsp.Request)) http.HandlerFunc {
	return answering(func(request []byte) []byte {
		r, err := tsp.ParseRequest(request)
		if err != nil {
			t.Error(err)
		}
		change(&r)
		der, err := r.Marshal()
		if err != nil {
			t.Error(err)
		}
		return u.Respond(der, time.Now())
	})
}

// at is an authority whose clock is off.
func at(u tsp.Unit, offset time.Duration) http.HandlerFunc {
	return answering(func(request []byte) []byte { return u.Respond(request, time.Now().Add(offset)) })
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// RFC 3161 2.4.2: what an authority may answer, and what comes of it.
func TestTSA(t *testing.T) {
	w := newWorld(t)
	good := w.unit(t, x509.Certificate{})
	expired := w.unit(t, x509.Certificate{NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Minute)})
	uncritical := w.unit(t, x509.Certificate{ExtraExtensions: timestampingUsage(false)})
	stranger := newWorld(t).unit(t, x509.Certificate{})
	between, below := w.unitBelow(t)
	first := good.Respond(mustMarshal(t, tsp.Request{Hash: crypto.SHA256, Sum: imprint[:], Certificates: true}), time.Now())

	for name, test := range map[string]struct {
		serve       http.HandlerFunc
		tsa         online.TSA // without URL
		err         string     // part of the error; empty: a token
		unavailable bool
	}{
		"granted":                               {serve: at(good, 0)},
		"granted under the roots":               {serve: at(good, 0), tsa: online.TSA{Roots: pool(w)}},
		"clock half a minute behind":            {serve: at(good, -30*time.Second)},
		"clock half a minute ahead":             {serve: at(good, 30*time.Second)},
		"policy asked for":                      {serve: at(good, 0), tsa: online.TSA{Policy: ourPolicy}},
		"policy refused":                        {serve: at(good, 0), tsa: online.TSA{Policy: otherPolicy}, err: "unacceptedPolicy"},
		"under another policy":                  {serve: changed(t, good, func(r *tsp.Request) { r.Policy = ourPolicy }), tsa: online.TSA{Policy: otherPolicy}, err: "policy"},
		"under another root":                    {serve: at(stranger, 0), tsa: online.TSA{Roots: pool(w)}, err: "no certificate chain"},
		"under an intermediate that nobody has": {serve: at(below, 0), tsa: online.TSA{Roots: pool(w)}, err: "no certificate chain"},
		"under one that is at hand":             {serve: at(below, 0), tsa: online.TSA{Roots: pool(w), Intermediates: []*x509.Certificate{between.cert}}},
		"another nonce":                         {serve: changed(t, good, func(r *tsp.Request) { r.Nonce.Add(r.Nonce, r.Nonce) }), err: "nonce"},
		"no nonce":                              {serve: changed(t, good, func(r *tsp.Request) { r.Nonce = nil }), err: "nonce"},
		"another's answer":                      {serve: answering(func([]byte) []byte { return first }), err: "nonce"},
		"another imprint":                       {serve: changed(t, good, func(r *tsp.Request) { r.Sum = slices.Repeat([]byte{1}, 32) }), err: "covers other data"},
		"another hash":                          {serve: changed(t, good, func(r *tsp.Request) { r.Hash, r.Sum = crypto.SHA512, slices.Repeat([]byte{1}, 64) }), err: "another hash"},
		"without its certificate":               {serve: changed(t, good, func(r *tsp.Request) { r.Certificates = false }), err: "certificate not found"},
		"dated back":                            {serve: at(good, -2*time.Minute), err: "off"},
		"dated ahead":                           {serve: at(good, 2*time.Minute), err: "off"},
		"expired":                               {serve: at(expired, 0), err: "not valid"},
		"key usage not critical":                {serve: at(uncritical, 0), err: "not critical"},
		"garbage":                               {serve: answering(func([]byte) []byte { return []byte("<html>Under maintenance</html>") }), err: "malformed"},
		"empty":                                 {serve: answering(func([]byte) []byte { return nil }), err: "malformed"},
		"endless":                               {serve: answering(func([]byte) []byte { return make([]byte, 2<<20) }), err: "too large"},
		"refused for now":                       {serve: answering(func([]byte) []byte { return []byte{0x30, 10, 0x30, 8, 2, 1, 2, 3, 3, 1, 0, 2} }), err: "timeNotAvailable", unavailable: true},
		"down for maintenance":                  {serve: status(503), err: "503", unavailable: true},
		"not there":                             {serve: status(404), err: "404"},
		"slow":                                  {serve: func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() }, tsa: online.TSA{Timeout: 50 * time.Millisecond}, err: "deadline", unavailable: true},
		"hangs up":                              {serve: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, err: "EOF", unavailable: true},
		"login expected":                        {serve: login("user", "secret", at(good, 0)), err: "401"},
		"login":                                 {serve: login("user", "secret", at(good, 0)), tsa: online.TSA{Username: "user", Password: "secret"}},
		"login with another password":           {serve: login("user", "secret", at(good, 0)), tsa: online.TSA{Username: "user", Password: "no"}, err: "401"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(test.serve)
			defer server.Close()
			tsa := test.tsa
			tsa.URL = server.URL
			token, err := tsa.Timestamp(t.Context(), crypto.SHA256, imprint[:])
			if test.err == "" {
				checkToken(t, token, err)
				return
			}
			if err == nil || token != nil || !errors.Is(err, ades.ErrTimestamp) || !strings.Contains(err.Error(), test.err) {
				t.Errorf("want %q: %v", test.err, err)
			}
			if errors.Is(err, ades.ErrUnavailable) != test.unavailable {
				t.Errorf("whether it may help to ask again is wrong: %v", err)
			}
		})
	}
}

func mustMarshal(t *testing.T, r tsp.Request) []byte {
	t.Helper()
	der, err := r.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func checkToken(t *testing.T, der []byte, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	token, err := tsp.ParseToken(der)
	if err != nil {
		t.Fatal(err)
	}
	if err := token.Verify(); err != nil || !slices.Equal(token.Sum, imprint[:]) {
		t.Errorf("token over %x: %v", token.Sum, err)
	}
}

func pool(w *world) *x509.CertPool {
	out := x509.NewCertPool()
	out.AddCert(w.root.cert)
	return out
}

func login(username, password string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != username || p != password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

func TestTSARefusesASumOfAnotherLength(t *testing.T) {
	tsa := online.TSA{URL: "http://127.0.0.1:1/"}
	if _, err := tsa.Timestamp(t.Context(), crypto.SHA256, imprint[:31]); !errors.Is(err, ades.ErrTimestamp) || errors.Is(err, ades.ErrUnavailable) {
		t.Error(err)
	}
}

// The password of an address does not get into errors, which are logged.
func TestTSAErrorHidesThePassword(t *testing.T) {
	tsa := online.TSA{URL: "http://user:secret@127.0.0.1:1/"}
	_, err := tsa.Timestamp(t.Context(), crypto.SHA256, imprint[:])
	if !errors.Is(err, ades.ErrUnavailable) || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// A certificate of the client's is in the transport of its HTTP client.
func TestTSAWithClientCertificate(t *testing.T) {
	w := newWorld(t)
	unit := w.unit(t, x509.Certificate{})
	client := issue(t, w.root, &x509.Certificate{Subject: pkix.Name{CommonName: "Test Client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	server := httptest.NewUnstartedServer(at(unit, 0))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool(w)}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that fails
	server.StartTLS()
	defer server.Close()

	trusting := x509.NewCertPool()
	trusting.AddCert(server.Certificate())
	with := func(certs ...tls.Certificate) *http.Client {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusting, Certificates: certs}}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	tsa := online.TSA{URL: server.URL, Client: with(tls.Certificate{Certificate: [][]byte{client.cert.Raw}, PrivateKey: client.key})}
	token, err := tsa.Timestamp(t.Context(), crypto.SHA256, imprint[:])
	checkToken(t, token, err)

	tsa.Client = with()
	if _, err := tsa.Timestamp(t.Context(), crypto.SHA256, imprint[:]); !errors.Is(err, ades.ErrTimestamp) {
		t.Error(err)
	}
}
