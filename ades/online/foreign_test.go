package online_test

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// openssl as the other side: it answers what this package asks.

// folder has the certificates and keys of a test as openssl reads them.
type folder string

func (f folder) write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(string(f), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (f folder) key(t *testing.T, name string, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return f.write(t, name, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// through gives a request to a program in a file and returns the file it writes.
func (f folder) through(t *testing.T, request []byte, program string, args func(in, out string) []string) []byte {
	in, out := filepath.Join(string(f), "request"), filepath.Join(string(f), "response")
	if err := os.WriteFile(in, request, 0o600); err != nil {
		t.Error(err)
	}
	if text, err := exec.Command(program, args(in, out)...).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", program, err, text)
	}
	response, err := os.ReadFile(out)
	if err != nil {
		t.Error(err)
	}
	return response
}

func TestOpenSSLGivesTimestamps(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	w, f := newWorld(t), folder(t.TempDir())
	unit := w.unit(t, x509.Certificate{})
	config := f.write(t, "openssl.cnf", fmt.Appendf(nil, `[tsa]
default_tsa = own
[own]
serial = %s
crypto_device = builtin
signer_cert = %s
signer_key = %s
signer_digest = sha256
default_policy = 1.3.6.1.4.1.99999.1
digests = sha256, sha384, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
`, f.write(t, "serial", []byte("01\n")), f.write(t, "tsa.pem", encodePEM(unit.Certificate)), f.key(t, "tsa.key", unit.Key)))
	w.mux.Handle("/tsa", answering(func(request []byte) []byte {
		return f.through(t, request, openssl, func(in, out string) []string {
			return []string{"ts", "-reply", "-config", config, "-queryfile", in, "-out", out}
		})
	}))

	tsa := &online.TSA{URL: w.url + "/tsa", Policy: ourPolicy, Roots: pool(w)}
	token, err := tsa.Timestamp(t.Context(), crypto.SHA256, imprint[:])
	checkToken(t, token, err)
	out, err := exec.Command(openssl, "ts", "-verify", "-digest", fmt.Sprintf("%x", imprint), "-token_in",
		"-in", f.write(t, "token", token), "-CAfile", f.write(t, "root.pem", encodePEM(w.root.cert))).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("Verification: OK")) {
		t.Errorf("openssl ts -verify: %v\n%s", err, out)
	}

	tsa.Policy = otherPolicy
	if _, err := tsa.Timestamp(t.Context(), crypto.SHA256, imprint[:]); !errors.Is(err, ades.ErrTimestamp) || !strings.Contains(err.Error(), "unacceptedPolicy") {
		t.Error(err)
	}
}

func TestOpenSSLAnswersOCSP(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	w, f := newWorld(t), folder(t.TempDir())
	good, revoked, unknown := w.signer(t, []string{"/ocsp"}, nil), w.signer(t, []string{"/ocsp"}, nil), w.signer(t, []string{"/ocsp"}, nil)
	delegated := delegate(t, w.root, forOCSP())
	const format = "060102150405Z"
	index := f.write(t, "index.txt", fmt.Appendf(nil, "V\t%s\t\t%X\tunknown\t/CN=Good\nR\t%s\t%s,keyCompromise\t%X\tunknown\t/CN=Revoked\n",
		good.cert.NotAfter.UTC().Format(format), good.cert.SerialNumber,
		revoked.cert.NotAfter.UTC().Format(format), revokedAt.Format(format), revoked.cert.SerialNumber))
	ca, signer, key := f.write(t, "ca.pem", encodePEM(w.root.cert)), f.write(t, "responder.pem", encodePEM(delegated.cert)), f.key(t, "responder.key", delegated.key)
	w.mux.HandleFunc("/ocsp/", func(rw http.ResponseWriter, r *http.Request) {
		request, err := readOCSP(r)
		if err != nil {
			t.Error(err)
		}
		response := f.through(t, request, openssl, func(in, out string) []string {
			return []string{"ocsp", "-index", index, "-CA", ca, "-rsigner", signer, "-rkey", key, "-nmin", "10", "-reqin", in, "-respout", out}
		})
		rw.Write(response)
	})

	for option, h := range map[string]crypto.Hash{"-sha1": crypto.SHA1, "-sha256": crypto.SHA256} {
		source := &online.Revocation{Client: local(), Hash: h}
		ask := func(signer pair) (ades.RevocationData, error) {
			// openssl writes whole seconds, of a clock that may be some milliseconds behind.
			return source.Revocation(t.Context(), signer.cert, w.root.cert, time.Now().Add(-time.Second))
		}
		proof, err := ask(good)
		if n := len(checkProof(t, proof, err, good.cert, w.root.cert).Nonce); n != 32 {
			t.Errorf("nonce of %d bytes in the answer", n)
		}
		out, err := exec.Command(openssl, "ocsp", "-respin", f.write(t, "proof", proof.OCSP), option, "-issuer", ca, "-cert", f.write(t, "good.pem", encodePEM(good.cert)),
			"-CAfile", ca, "-no_nonce").CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("good.pem: good")) || !bytes.Contains(out, []byte("Response verify OK")) {
			t.Errorf("openssl ocsp -respin: %v\n%s", err, out)
		}

		var why *ades.RevokedError
		if proof, err = ask(revoked); !errors.As(err, &why) || !why.At.Equal(revokedAt) || why.Reason != 1 || proof.OCSP == nil {
			t.Error(err)
		}
		if _, err = ask(unknown); !errors.Is(err, ades.ErrNoRevocation) || !strings.Contains(err.Error(), `"unknown"`) {
			t.Error(err)
		}
	}
}
