package httpapi_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// startWithCA starts a server to which the certificates of the test CA point, with a user's certificate.
func startWithCA(t *testing.T) (*server, *x509.Certificate) {
	t.Helper()
	s := start(t, wiring{})
	if err := s.people.SetBaseURL(t.Context(), s.url); err != nil {
		t.Fatal(err)
	}
	c := s.signer(t)
	c.user(person)
	_, event, err := s.people.Begin(t.Context(), "key", idp.Person{Account: c.account, Method: idp.SIM, Phone: phone}, idp.Text{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, event.(idp.NeedDigest).Certificate
}

// fetch sends a request without a token, and checks the type of the answer.
func (s *server) fetch(t *testing.T, method, address, sent string, body []byte, want string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if sent != "" {
		r.Header.Set("Content-Type", sent)
	}
	response, err := s.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content := readAll(t, response.Body)
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != want {
		t.Fatalf("%s %s: status %d, Content-Type %q, want %q: %.300s", method, address, response.StatusCode, got, want, content)
	}
	return content
}

// openssl runs the program in a folder with root.pem, issuing.pem, user.pem and chain.pem, which has the certificates
// of the issuing CA and the root.
type openssl struct {
	*testing.T
	program, folder string
}

func newOpenSSL(t *testing.T, s *server, user *x509.Certificate) openssl {
	o := openssl{t, testenv.Program(t, "openssl"), t.TempDir()}
	o.write("root.pem", s.people.RootPEM())
	o.write("issuing.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.chain(t)[0].Raw}))
	o.write("user.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: user.Raw}))
	o.write("issuers.p7c", s.fetch(t, http.MethodGet, s.url+"/issuers.p7c", "", nil, "application/pkcs7-mime"))
	o.run("pkcs7", "-inform", "DER", "-in", "issuers.p7c", "-print_certs", "-out", "chain.pem")
	return o
}

func (o openssl) write(name string, content []byte) {
	o.Helper()
	if err := os.WriteFile(filepath.Join(o.folder, name), content, 0o600); err != nil {
		o.Fatal(err)
	}
}

func (o openssl) read(name string) []byte {
	o.Helper()
	content, err := os.ReadFile(filepath.Join(o.folder, name))
	if err != nil {
		o.Fatal(err)
	}
	return content
}

// run runs openssl, which must succeed.
func (o openssl) run(args ...string) string {
	o.Helper()
	command := exec.CommandContext(o.Context(), o.program, args...)
	command.Dir = o.folder
	out, err := command.CombinedOutput()
	if err != nil {
		o.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// RFC 3161: openssl requests timestamps and verifies them.
func TestSandboxTimestampAuthority(t *testing.T) {
	t.Parallel()
	s, user := startWithCA(t)
	o := newOpenSSL(t, s, user)
	o.write("content", page)
	for _, hash := range []string{"-sha256", "-sha384", "-sha512"} {
		o.run("ts", "-query", "-data", "content", hash, "-cert", "-out", "query.tsq")
		o.write("reply.tsr", s.fetch(t, http.MethodPost, s.url+"/tsa", "application/timestamp-query", o.read("query.tsq"), "application/timestamp-reply"))
		out := o.run("ts", "-verify", "-queryfile", "query.tsq", "-in", "reply.tsr", "-CAfile", "root.pem", "-untrusted", "chain.pem")
		if !strings.Contains(out, "Verification: OK") {
			t.Errorf("%s: %s", hash, out)
		}
	}
	o.write("refusal.tsr", s.fetch(t, http.MethodPost, s.url+"/tsa", "application/timestamp-query", []byte("garbage"), "application/timestamp-reply"))
	if out := o.run("ts", "-reply", "-in", "refusal.tsr", "-text"); !strings.Contains(out, "Status: Rejected") {
		t.Error(out)
	}
}

// RFC 6960: openssl verifies the responses to a POST with a nonce, for CertIDs with both hashes, and to a GET of the
// same request (A.1).
func TestSandboxResponder(t *testing.T) {
	t.Parallel()
	s, user := startWithCA(t)
	o := newOpenSSL(t, s, user)
	for _, hash := range []string{"-sha1", "-sha256"} {
		query := []string{"ocsp", hash, "-issuer", "issuing.pem", "-cert", "user.pem", "-CAfile", "root.pem", "-verify_other", "chain.pem"}
		out := o.run(append(query, "-url", user.OCSPServer[0], "-nonce")...)
		if !strings.Contains(out, "Response verify OK") || !strings.Contains(out, "user.pem: good") || strings.Contains(out, "no nonce") {
			t.Errorf("POST, %s: %s", hash, out)
		}
		for range 20 { // a nonce is random, and so is whether its Base64 has slashes
			o.run("ocsp", hash, "-issuer", "issuing.pem", "-cert", "user.pem", "-nonce", "-reqout", "request")
			for _, path := range pathsOf(o.read("request")) {
				o.write("response", s.fetch(t, http.MethodGet, user.OCSPServer[0]+"/"+path, "", nil, "application/ocsp-response"))
				out := o.run("ocsp", "-respin", "response", "-reqin", "request", "-issuer", "issuing.pem", "-CAfile", "root.pem", "-resp_text")
				if !strings.Contains(out, "Response verify OK") || !strings.Contains(out, "Cert Status: good") {
					t.Errorf("GET %s, %s: %s", path, hash, out)
				}
			}
		}
	}
	for _, malformed := range [][]byte{
		s.fetch(t, http.MethodPost, s.url+"/ocsp", "application/ocsp-request", []byte("garbage"), "application/ocsp-response"),
		s.fetch(t, http.MethodGet, s.url+"/ocsp/no//Base64!", "", nil, "application/ocsp-response"),
		s.fetch(t, http.MethodGet, s.url+"/ocsp/", "", nil, "application/ocsp-response"),
	} {
		if want := []byte{0x30, 3, 0x0a, 1, 1}; !bytes.Equal(malformed, want) { // malformedRequest
			t.Errorf("got %x, want %x", malformed, want)
		}
	}
}

// pathsOf returns the ways in which clients escape a request in a path.
func pathsOf(request []byte) []string {
	encoded := base64.StdEncoding.EncodeToString(request)
	return []string{url.PathEscape(encoded), url.QueryEscape(encoded), encoded}
}

// RFC 5280 4.2.1.13: openssl verifies with the lists at the addresses in the certificates.
func TestSandboxRevocationLists(t *testing.T) {
	t.Parallel()
	s, user := startWithCA(t)
	o := newOpenSSL(t, s, user)
	var lists []byte
	for _, address := range []string{user.CRLDistributionPoints[0], s.url + "/crl/root"} {
		der := s.fetch(t, http.MethodGet, address, "", nil, "application/pkix-crl")
		lists = append(lists, pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der})...)
	}
	o.write("lists.pem", lists)
	out := o.run("verify", "-x509_strict", "-crl_check_all", "-CRLfile", "lists.pem", "-CAfile", "root.pem", "-untrusted", "chain.pem", "user.pem")
	if out != "user.pem: OK\n" {
		t.Error(out)
	}
}

// Every certificate has the addresses of the server, also after the server was started with another URL.
func TestSandboxCertificatesNameTheServer(t *testing.T) {
	t.Parallel()
	s, user := startWithCA(t)
	addresses := func(c *x509.Certificate) []string {
		return append(append(append([]string(nil), c.OCSPServer...), c.CRLDistributionPoints...), c.IssuingCertificateURL...)
	}
	chain := s.chain(t)
	diff(t, "user", []string{s.url + "/ocsp", s.url + "/crl", s.url + "/issuers.p7c"}, addresses(user))
	diff(t, "issuing authority", []string{s.url + "/crl/root", s.url + "/issuers.p7c"}, addresses(chain[0]))
	if err := s.people.SetBaseURL(t.Context(), "https://elsewhere.example"); err != nil {
		t.Fatal(err)
	}
	diff(t, "issuing authority", []string{"https://elsewhere.example/crl/root", "https://elsewhere.example/issuers.p7c"}, addresses(s.chain(t)[0]))
}

// chain returns the chain of the test CA.
func (s *server) chain(t *testing.T) []*x509.Certificate {
	t.Helper()
	chain, err := s.people.Sources().Issuers.Issuers(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

func TestSandboxAuthorityRefusals(t *testing.T) {
	t.Parallel()
	s, _ := startWithCA(t)
	c := s.signer(t)
	post := func(path, kind string, length int) answer {
		r := c.request(http.MethodPost, path, strings.Repeat("a", length))
		r.Header.Set("Content-Type", kind)
		return c.send(r)
	}
	c.wantProblem(post("/tsa", "application/json", 10), http.StatusUnsupportedMediaType, "Unsupported media type")
	c.wantProblem(post("/ocsp", "application/timestamp-query", 10), http.StatusUnsupportedMediaType, "Unsupported media type")
	c.wantProblem(post("/tsa", "application/timestamp-query", 64<<10+1), http.StatusRequestEntityTooLarge, "Request too large")
	for _, path := range []string{"/tsa", "/ocsp"} {
		c.wantProblem(c.call(http.MethodGet, path, nil), http.StatusMethodNotAllowed, "Method not allowed")
	}
	for _, path := range []string{"/crl", "/crl/root", "/issuers.p7c", "/ocsp/MAA="} {
		c.wantProblem(c.call(http.MethodPost, path, nil), http.StatusMethodNotAllowed, "Method not allowed")
	}
}
