package ca

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// openssl runs the program in a folder of its own.
type openssl struct {
	*testing.T
	program, folder string
}

func newOpenSSL(t *testing.T) openssl {
	t.Helper()
	return openssl{t, testenv.Program(t, "openssl"), t.TempDir()}
}

func (o openssl) write(name string, content []byte) string {
	o.Helper()
	if err := os.WriteFile(filepath.Join(o.folder, name), content, 0o600); err != nil {
		o.Fatal(err)
	}
	return name
}

func (o openssl) writePEM(name string, certs ...*x509.Certificate) string {
	o.Helper()
	return o.write(name, certtest.PEM(certs...))
}

// run returns the output of openssl and whether it succeeded.
func (o openssl) run(args ...string) (string, bool) {
	o.Helper()
	cmd := exec.Command(o.program, args...)
	cmd.Dir = o.folder
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func TestOpenSSLChains(t *testing.T) {
	o, a := newOpenSSL(t), newAuthority(t)
	a.SetBaseURL("http://ca.example")
	if _, err := a.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	root, chain := o.writePEM("root.pem", a.Root()), o.writePEM("chain.pem", a.Chain()...)
	for _, row := range []struct {
		purpose string
		cert    *x509.Certificate
	}{
		{"any", issueTest(t, a)},
		{"timestampsign", a.timestamping.certificate},
		{"ocsphelper", a.responder.certificate},
	} {
		out, ok := o.run("verify", "-x509_strict", "-purpose", row.purpose, "-CAfile", root, "-untrusted", chain, o.writePEM("leaf.pem", row.cert))
		if !ok {
			t.Errorf("%s: %s", row.purpose, out)
		}
	}
}

// RFC 5280 6.3: openssl accepts and applies the revocation lists.
func TestOpenSSLCRL(t *testing.T) {
	o, a, now := newOpenSSL(t), newAuthority(t), time.Now()
	good, bad := issueTest(t, a), issueTest(t, a)
	root, chain := o.writePEM("root.pem", a.Root()), o.writePEM("chain.pem", a.Chain()...)
	a.Revoke(bad.SerialNumber, now.Add(-time.Minute), 1)
	lists := func() string {
		all := ""
		for _, list := range []func(time.Time) ([]byte, error){a.CRL, a.RootCRL} {
			der, err := list(now)
			if err != nil {
				t.Fatal(err)
			}
			all += string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
		}
		return o.write("lists.pem", []byte(all))
	}
	verify := func(cert *x509.Certificate) (string, bool) {
		return o.run("verify", "-x509_strict", "-crl_check_all", "-CRLfile", lists(), "-CAfile", root, "-untrusted", chain, o.writePEM("leaf.pem", cert))
	}
	if out, ok := verify(good); !ok {
		t.Error(out)
	}
	if out, ok := verify(bad); ok || !strings.Contains(out, "certificate revoked") {
		t.Error(out)
	}
	a.Revoke(a.Chain()[0].SerialNumber, now.Add(-time.Minute), 2)
	if out, ok := verify(good); ok || !strings.Contains(out, "certificate revoked") {
		t.Errorf("below a revoked authority: %s", out)
	}
	der, err := a.CRL(now)
	if err != nil {
		t.Fatal(err)
	}
	out, ok := o.run("crl", "-inform", "DER", "-in", o.write("list", der), "-CAfile", chain, "-noout", "-text")
	if !ok || !strings.Contains(out, "verify OK") || !strings.Contains(out, "Key Compromise") || !strings.Contains(out, "Next Update: ") {
		t.Error(out)
	}
}

// serve serves the responder for POST and GET (RFC 6960 A.1).
func serve(t *testing.T, answer func(request []byte) []byte) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(r.Body)
		if r.Method == http.MethodGet {
			var text string
			if text, err = url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), PathOCSP+"/")); err == nil {
				request, err = base64.StdEncoding.DecodeString(text)
			}
		}
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/ocsp-response")
		w.Write(answer(request))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// RFC 6960 and RFC 9654: openssl sends requests over HTTP, with a nonce and each hash algorithm, to the address in
// the certificate.
func TestOpenSSLOCSP(t *testing.T) {
	o, a := newOpenSSL(t), newAuthority(t)
	a.SetBaseURL(serve(t, func(request []byte) []byte { return a.OCSP(request, time.Now()) }))
	good, bad := issueTest(t, a), issueTest(t, a)
	a.Revoke(bad.SerialNumber, time.Now().Add(-time.Minute), 1)
	root, issuing := o.writePEM("root.pem", a.Root()), o.writePEM("issuing.pem", a.Chain()[0])
	other := issueTest(t, newAuthority(t))
	for _, row := range []struct {
		cert   *x509.Certificate
		issuer string
		want   string
	}{
		{good, issuing, "leaf.pem: good"},
		{bad, issuing, "leaf.pem: revoked"},
		{other, issuing, "leaf.pem: unknown"},
		{a.Chain()[0], root, "leaf.pem: good"},
	} {
		for _, hash := range []string{"-sha1", "-sha256", "-sha512"} {
			out, ok := o.run("ocsp", hash, "-nonce", "-issuer", row.issuer, "-cert", o.writePEM("leaf.pem", row.cert),
				"-url", good.OCSPServer[0], "-CAfile", root, "-verify_other", issuing)
			if !ok || !strings.Contains(out, "Response verify OK") || !strings.Contains(out, row.want) || strings.Contains(out, "WARNING") {
				t.Errorf("%s, want %s: %s", hash, row.want, out)
			}
		}
	}
}

// openssl checks the nonce and refuses the response to an earlier request.
func TestOpenSSLOCSPNonce(t *testing.T) {
	o, a := newOpenSSL(t), newAuthority(t)
	var first []byte
	address := serve(t, func(request []byte) []byte {
		if first == nil {
			first = a.OCSP(request, time.Now())
		}
		return first
	})
	root, issuing, leaf := o.writePEM("root.pem", a.Root()), o.writePEM("issuing.pem", a.Chain()[0]), o.writePEM("leaf.pem", issueTest(t, a))
	for _, want := range []bool{true, false} {
		out, ok := o.run("ocsp", "-nonce", "-issuer", issuing, "-cert", leaf, "-url", address+PathOCSP, "-CAfile", root, "-verify_other", issuing)
		if ok != want || strings.Contains(out, "Nonce Verify error") == want {
			t.Errorf("%v: %s", ok, out)
		}
	}
}

// RFC 3161: openssl requests a timestamp and verifies the token.
func TestOpenSSLTimestamp(t *testing.T) {
	o, a := newOpenSSL(t), newAuthority(t)
	root, chain := o.writePEM("root.pem", a.Root()), o.writePEM("chain.pem", a.Chain()...)
	tsa := o.writePEM("tsa.pem", append([]*x509.Certificate{a.timestamping.certificate}, a.Chain()...)...)
	content := o.write("content", []byte("content"))
	for _, row := range []struct{ hash, certificates string }{{"-sha256", "-cert"}, {"-sha384", "-cert"}, {"-sha512", ""}} {
		args := []string{"ts", "-query", "-data", content, row.hash, "-out", "query"}
		untrusted := tsa
		if row.certificates != "" {
			args, untrusted = append(args, row.certificates), chain
		}
		if out, ok := o.run(args...); !ok {
			t.Fatal(out)
		}
		query, err := os.ReadFile(filepath.Join(o.folder, "query"))
		if err != nil {
			t.Fatal(err)
		}
		reply := o.write("reply", a.Timestamp(query, time.Now()))
		if out, ok := o.run("ts", "-verify", "-queryfile", "query", "-in", reply, "-CAfile", root, "-untrusted", untrusted); !ok || !strings.Contains(out, "Verification: OK") {
			t.Errorf("%s: %s", row.hash, out)
		}
		o.write("changed", []byte("something else"))
		if out, ok := o.run("ts", "-verify", "-data", "changed", "-in", reply, "-CAfile", root, "-untrusted", untrusted); ok {
			t.Errorf("%s over something else: %s", row.hash, out)
		}
	}
}
