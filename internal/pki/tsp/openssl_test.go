package tsp_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/pki/tsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// openssl asks, and accepts the answer.
func TestOpenSSLAsks(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	r := newRoot(t)
	for name, unit := range units(t, r) {
		for _, options := range [][]string{
			{"-sha256", "-cert"},
			{"-sha384", "-cert", "-no_nonce"},
			{"-sha512", "-cert", "-tspolicy", policy.String()},
			{"-sha256"}, // without certificates: openssl is handed the authority's
		} {
			t.Run(fmt.Sprint(name, options), func(t *testing.T) {
				f := folder{t, t.TempDir()}
				content := f.write("content", []byte("content"))
				query := filepath.Join(f.path, "query")
				ask := append([]string{"ts", "-query", "-data", content, "-out", query}, options...)
				if out, err := exec.Command(openssl, ask...).CombinedOutput(); err != nil {
					t.Fatalf("openssl ts -query: %v\n%s", err, out)
				}
				asked, err := os.ReadFile(query)
				if err != nil {
					t.Fatal(err)
				}
				response := f.write("response", unit.Respond(asked, time.Now()))
				verify := func(source ...string) ([]byte, error) {
					return exec.Command(openssl, append([]string{"ts", "-verify", "-in", response,
						"-CAfile", f.writePEM("root.pem", r.cert), "-untrusted", f.writePEM("unit.pem", unit.Certificate)}, source...)...).CombinedOutput()
				}
				if out, err := verify("-queryfile", query); err != nil {
					t.Errorf("openssl ts -verify: %v\n%s", err, out)
				}
				if _, err := verify("-data", f.write("other", []byte("other"))); err == nil {
					t.Error("openssl accepts other content: the test proves nothing")
				}
			})
		}
	}
}

// openssl prints our refusals.
func TestOpenSSLReadsRefusals(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	unit := newRoot(t).unit(t, unitTemplate(), certtest.NewKey(t, elliptic.P256()))
	f := folder{t, t.TempDir()}
	other := request(nil)
	other.Policy = otherPolicy
	asked, err := other.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for want, query := range map[string][]byte{
		"unacceptedPolicy": asked,
		"badDataFormat":    []byte("GET / HTTP/1.1"),
	} {
		out, err := exec.Command(openssl, "ts", "-reply", "-in", f.write("response", unit.Respond(query, time.Now())), "-text").CombinedOutput()
		reason := map[string]string{"unacceptedPolicy": "policy is not supported", "badDataFormat": "wrong format"}[want]
		if err != nil || !bytes.Contains(out, []byte("Rejected.")) || !bytes.Contains(out, []byte(reason)) {
			t.Errorf("%s: %v\n%s", want, err, out)
		}
	}
}

// opensslTSA is an authority that is openssl.
type opensslTSA struct {
	folder
	openssl string
	config  string
}

func newOpenSSLTSA(t testing.TB, r root, key crypto.Signer, essHash string) opensslTSA {
	t.Helper()
	f := folder{t, t.TempDir()}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`[tsa]
serial = %s
crypto_device = builtin
signer_cert = %s
certs = %s
signer_key = %s
signer_digest = sha256
default_policy = %s
digests = sha256, sha384, sha512
accuracy = secs:1, millisecs:500, microsecs:100
clock_precision_digits = 3
ordering = yes
tsa_name = yes
ess_cert_id_chain = yes
ess_cert_id_alg = %s
`, f.write("serial", []byte("01\n")), f.writePEM("unit.pem", certtest.Issue(t, *unitTemplate(), key, r.cert, r.key)), f.writePEM("root.pem", r.cert),
		f.write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})), policy, essHash)
	return opensslTSA{f, testenv.Program(t, "openssl"), f.write("tsa.cnf", []byte(config))}
}

func (o opensslTSA) respond(request tsp.Request) []byte {
	o.t.Helper()
	der, err := request.Marshal()
	if err != nil {
		o.t.Fatal(err)
	}
	response := filepath.Join(o.path, "response")
	out, err := exec.Command(o.openssl, "ts", "-reply", "-config", o.config, "-section", "tsa",
		"-queryfile", o.write("query", der), "-out", response).CombinedOutput()
	if err != nil {
		o.t.Fatalf("openssl ts -reply: %v\n%s", err, out)
	}
	b, err := os.ReadFile(response)
	if err != nil {
		o.t.Fatal(err)
	}
	return b
}

// openssl answers, and we accept it: signing certificates of version 1 (sha1) and 2,
// times with fractions, and every optional field.
func TestOpenSSLAnswers(t *testing.T) {
	r := newRoot(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 3072)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]crypto.Signer{"RSA": rsaKey, "ECDSA": certtest.NewKey(t, elliptic.P256())} {
		for _, essHash := range []string{"sha1", "sha256", "sha512"} {
			t.Run(name+" "+essHash, func(t *testing.T) {
				asked := request([]byte("content"))
				asked.Nonce = new(big.Int).Lsh(big.NewInt(3), 62)
				before := time.Now()
				response, err := tsp.ParseResponse(newOpenSSLTSA(t, r, key, essHash).respond(asked))
				if err != nil {
					t.Fatal(err)
				}
				token, err := asked.Check(response)
				if err != nil {
					t.Fatal(err)
				}
				if d := token.Time.Sub(before); d < -time.Second || d > time.Minute {
					t.Errorf("time %v, asked at %v", token.Time, before)
				}
				if token.Accuracy != 1500*time.Millisecond+100*time.Microsecond || len(token.Certificates) != 2 {
					t.Errorf("accuracy %v, %d certificates", token.Accuracy, len(token.Certificates))
				}
			})
		}
	}
}

// openssl refuses, and we say why.
func TestOpenSSLRefuses(t *testing.T) {
	authority := newOpenSSLTSA(t, newRoot(t), certtest.NewKey(t, elliptic.P256()), "sha256")
	unknown, weak := request([]byte("content")), request([]byte("content"))
	unknown.Policy = otherPolicy
	weak.Hash, weak.Sum = crypto.SHA1, sum(crypto.SHA1, []byte("content"))
	for want, asked := range map[tsp.Failure]tsp.Request{tsp.UnacceptedPolicy: unknown, tsp.BadAlg: weak} {
		_, err := tsp.ParseResponse(authority.respond(asked))
		var refusal *tsp.StatusError
		if !errors.As(err, &refusal) || refusal.Failure != want || refusal.Status != tsp.Rejection || refusal.Text == "" || refusal.Temporary() {
			t.Errorf("want %v, got %v", want, err)
		}
	}
}
