package ocsp

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestOpenSSLClient reads requests of openssl, which verifies the responses.
func TestOpenSSLClient(t *testing.T) {
	openssl := testenv.NewOpenSSL(t)
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	leaf := certtest.New(t, "leaf", ca).Cert
	responder := certtest.New(t, "responder", ca, certtest.Responder)
	openssl.Write("ca.pem", certtest.PEM(ca.Cert))
	openssl.Write("leaf.pem", certtest.PEM(leaf))
	for hash, single := range map[string]Single{
		"-sha1":   {Status: Good, ThisUpdate: now, NextUpdate: now.Add(time.Minute)},
		"-sha256": {Status: Revoked, RevokedAt: now.Add(-time.Hour), Reason: 1, ThisUpdate: now},
		"-sha384": {Status: Unknown, ThisUpdate: now},
		"-sha512": {Status: Good, ThisUpdate: now},
	} {
		openssl.Run("ocsp", hash, "-issuer", "ca.pem", "-cert", "leaf.pem", "-nonce", "-reqout", "request")
		request, err := ParseRequest(openssl.Read("request"))
		if err != nil || len(request.Nonce) == 0 || len(request.IDs) != 1 || !request.IDs[0].IssuedBy(ca.Cert) {
			t.Fatalf("%s: read %+v, %v", hash, request, err)
		}
		single.ID = request.IDs[0]
		openssl.Write("response", respond(t, leaf, ca, responder, func(r *Response) { r.Nonce, r.Singles = request.Nonce, []Single{single} }))
		out := openssl.Run("ocsp", "-issuer", "ca.pem", "-CAfile", "ca.pem", hash, "-cert", "leaf.pem", "-no_nonce",
			"-reqin", "request", "-respin", "response")
		if !strings.Contains(out, "Response verify OK") || !strings.Contains(out, "leaf.pem: "+single.Status.String()) || strings.Contains(out, "WARNING") {
			t.Errorf("%s, %v: openssl prints %s", hash, single.Status, out)
		}
	}
}

// TestOpenSSLResponder reads and verifies the responses of openssl to our requests.
func TestOpenSSLResponder(t *testing.T) {
	openssl := testenv.NewOpenSSL(t)
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	good, revoked, unknown := certtest.New(t, "good", ca).Cert, certtest.New(t, "revoked", ca).Cert, certtest.New(t, "unknown", ca).Cert
	responder := certtest.New(t, "responder", ca, certtest.Responder)
	const utc = "060102150405Z"
	revokedAt, until := now.Add(-time.Minute), now.AddDate(1, 0, 0).Format(utc)
	openssl.Write("ca.pem", certtest.PEM(ca.Cert))
	openssl.Write("responder.pem", certtest.PEM(responder.Cert))
	openssl.Write("responder.key", certtest.PEMKey(t, responder.Key))
	openssl.Write("index", fmt.Appendf(nil, "V\t%s\t\t%X\tunknown\t/CN=good\nR\t%s\t%s,keyCompromise\t%X\tunknown\t/CN=revoked\n",
		until, good.SerialNumber.Bytes(), until, revokedAt.Format(utc), revoked.SerialNumber.Bytes()))
	nonce := bytes.Repeat([]byte{7}, 32)
	for _, test := range []struct {
		about *x509.Certificate
		want  Single
	}{
		{good, Single{Status: Good}},
		{revoked, Single{Status: Revoked, Reason: 1, RevokedAt: revokedAt}},
		{unknown, Single{Status: Unknown}},
	} {
		der, err := NewRequest(test.about, ca.Cert, crypto.SHA256, nonce).Marshal()
		testenv.NoError(t, err)
		openssl.Write("request", der)
		openssl.Run("ocsp", "-index", "index", "-CA", "ca.pem", "-rsigner", "responder.pem", "-rkey", "responder.key",
			"-reqin", "request", "-respout", "response", "-ndays", "1")
		r, err := Parse(openssl.Read("response"))
		testenv.NoError(t, err)
		if by, err := r.Verify(ca.Cert); err != nil || !by.Equal(responder.Cert) || !bytes.Equal(r.Nonce, nonce) {
			t.Errorf("%v: verified by %v with nonce %x: %v", test.want.Status, by, r.Nonce, err)
		}
		got, ok := r.For(test.about, ca.Cert)
		if !ok || got.Status != test.want.Status || got.Reason != test.want.Reason || !got.RevokedAt.Equal(test.want.RevokedAt) ||
			got.NextUpdate.Before(got.ThisUpdate.Add(time.Hour)) {
			t.Errorf("got %+v, want %+v", got, test.want)
		}
	}
}
