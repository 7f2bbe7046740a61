package ocsp

import (
	"bytes"
	"crypto"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// openssl's request is read and answered, and openssl accepts the answer.
func TestOpenSSLAcceptsTheAnswer(t *testing.T) {
	openssl, folder := testenv.Program(t, "openssl"), t.TempDir()
	ca := certify(t, "CA", nil, isAuthority)
	leaf := certify(t, "leaf", ca, nil)
	responder := certify(t, "responder", ca, isResponder)
	caFile, leafFile := writePEM(t, folder, "ca.pem", ca.cert), writePEM(t, folder, "leaf.pem", leaf.cert)
	request, response := filepath.Join(folder, "request"), filepath.Join(folder, "response")
	for _, hash := range []string{"sha1", "sha256", "sha384", "sha512"} {
		for _, single := range []Single{
			{Status: Good, ThisUpdate: now, NextUpdate: now.Add(time.Minute)},
			{Status: Revoked, RevokedAt: now.Add(-time.Hour), Reason: 1, ThisUpdate: now},
			{Status: Unknown, ThisUpdate: now},
		} {
			run(t, openssl, "ocsp", "-"+hash, "-issuer", caFile, "-cert", leafFile, "-nonce", "-reqout", request)
			der, err := os.ReadFile(request)
			if err != nil {
				t.Fatal(err)
			}
			asked, err := ParseRequest(der)
			if err != nil || len(asked.Nonce) == 0 || len(asked.IDs) != 1 || !asked.IDs[0].IssuedBy(ca.cert) {
				t.Fatalf("%+v, %v", asked, err)
			}
			single.ID = asked.IDs[0]
			write(t, folder, "response", answer(t, leaf.cert, ca, responder, func(r *Response) {
				r.Nonce, r.Singles = asked.Nonce, []Single{single}
			}))
			out := run(t, openssl, "ocsp", "-issuer", caFile, "-CAfile", caFile, "-"+hash, "-cert", leafFile, "-no_nonce", "-reqin", request, "-respin", response)
			if !strings.Contains(out, "Response verify OK") || !strings.Contains(out, "leaf.pem: "+single.Status.String()) || strings.Contains(out, "WARNING") {
				t.Errorf("%s, %v: %s", hash, single.Status, out)
			}
		}
	}
}

// The other way round: openssl answers our request.
func TestResponderOfOpenSSL(t *testing.T) {
	openssl, folder := testenv.Program(t, "openssl"), t.TempDir()
	ca := certify(t, "CA", nil, isAuthority)
	good, revoked, unknown := certify(t, "good", ca, nil), certify(t, "revoked", ca, nil), certify(t, "unknown", ca, nil)
	responder := certify(t, "responder", ca, isResponder)
	caFile := writePEM(t, folder, "ca.pem", ca.cert)
	const utc = "060102150405Z"
	revokedAt := now.Add(-time.Minute)
	until := now.AddDate(1, 0, 0).Format(utc)
	index := fmt.Sprintf("V\t%s\t\t%X\tunknown\t/CN=good\n", until, good.cert.SerialNumber.Bytes()) +
		fmt.Sprintf("R\t%s\t%s,keyCompromise\t%X\tunknown\t/CN=revoked\n", until, revokedAt.Format(utc), revoked.cert.SerialNumber.Bytes())
	response := filepath.Join(folder, "response")
	for _, row := range []struct {
		about *party
		want  Status
	}{{good, Good}, {revoked, Revoked}, {unknown, Unknown}} {
		nonce := bytes.Repeat([]byte{7}, 32)
		der, err := NewRequest(row.about.cert, ca.cert, crypto.SHA256, nonce).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		run(t, openssl, "ocsp", "-index", write(t, folder, "index", []byte(index)), "-CA", caFile,
			"-rsigner", writePEM(t, folder, "responder.pem", responder.cert), "-rkey", writeKey(t, folder, "responder.key", responder.key),
			"-reqin", write(t, folder, "request", der), "-respout", response, "-ndays", "1")
		if der, err = os.ReadFile(response); err != nil {
			t.Fatal(err)
		}
		r, err := Parse(der)
		if err != nil {
			t.Fatal(err)
		}
		if by, err := r.Verify(ca.cert); err != nil || !by.Equal(responder.cert) || !bytes.Equal(r.Nonce, nonce) {
			t.Errorf("%v: %v, nonce %x", row.want, err, r.Nonce)
		}
		single, ok := r.For(row.about.cert, ca.cert)
		if !ok || single.Status != row.want || single.NextUpdate.Before(single.ThisUpdate.Add(time.Hour)) {
			t.Errorf("%v: %+v", row.want, single)
		}
		if row.want == Revoked && (!single.RevokedAt.Equal(revokedAt) || single.Reason != 1) {
			t.Errorf("%+v", single)
		}
	}
}
