package tsp

import (
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/pki/cms"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestOpenSSLClient answers requests of openssl, which verifies the responses.
func TestOpenSSLClient(t *testing.T) {
	units := newUnits(t)
	for name, options := range map[string][]string{
		"RSA":   {"-sha256", "-cert"},
		"P-256": {"-sha256"}, // openssl gets the certificate from -untrusted
		"P-384": {"-sha384", "-cert", "-no_nonce"},
		"P-521": {"-sha512", "-cert", "-tspolicy", policy.String()},
	} {
		t.Run(name, func(t *testing.T) {
			o, unit := testenv.NewOpenSSL(t), units[name]
			o.Write("content", []byte("content"))
			o.Run(append([]string{"ts", "-query", "-data", "content", "-out", "query"}, options...)...)
			o.Write("response", unit.Respond(o.Read("query"), time.Now()))
			verify := []string{"ts", "-verify", "-in", "response", "-CAfile", o.Write("root.pem", certtest.PEM(unit.Chain...)),
				"-untrusted", o.Write("unit.pem", certtest.PEM(unit.Certificate))}
			o.Run(append(verify, "-queryfile", "query")...)
			if _, err := o.Try(append(verify, "-data", o.Write("other", []byte("other")))...); err == nil {
				t.Error("openssl accepts other content")
			}
		})
	}
}

// TestOpenSSLRefusal has openssl print refusals.
func TestOpenSSLRefusal(t *testing.T) {
	o, unit := testenv.NewOpenSSL(t), newUnit(t)
	otherPolicyAsked := mustMarshal(t, changedRequest(func(r *Request) { r.Policy = otherPolicy }))
	for want, query := range map[string][]byte{
		"policy is not supported": otherPolicyAsked,
		"wrong format":            []byte("GET / HTTP/1.1"),
	} {
		out := o.Run("ts", "-reply", "-in", o.Write("response", unit.Respond(query, time.Now())), "-text")
		if !strings.Contains(out, "Rejected.") || !strings.Contains(out, want) {
			t.Errorf("got %s, want %q", out, want)
		}
	}
}

// opensslRespond has openssl answer a request. Its certificate has the key, and its tokens have every optional field and
// a signing-certificate attribute with the hash.
func opensslRespond(t *testing.T, key crypto.Signer, hash string, r Request) []byte {
	t.Helper()
	o, unit := testenv.NewOpenSSL(t), newUnitOf(t, certtest.New(t, "Root", nil, certtest.Authority), key)
	o.Write("serial", []byte("01\n"))
	o.Write("unit.pem", certtest.PEM(unit.Certificate))
	o.Write("root.pem", certtest.PEM(unit.Chain...))
	o.Write("key.pem", certtest.PEMKey(t, key))
	o.Write("query", mustMarshal(t, r))
	o.Write("config", fmt.Appendf(nil, `[tsa]
serial = serial
crypto_device = builtin
signer_cert = unit.pem
certs = root.pem
signer_key = key.pem
signer_digest = sha256
default_policy = %s
digests = sha256, sha384, sha512
accuracy = secs:1, millisecs:500, microsecs:100
clock_precision_digits = 3
ordering = yes
tsa_name = yes
ess_cert_id_chain = yes
ess_cert_id_alg = %s
`, policy, hash))
	o.Run("ts", "-reply", "-config", "config", "-section", "tsa", "-queryfile", "query", "-out", "response")
	return o.Read("response")
}

// TestOpenSSLAuthority checks tokens of openssl: with both versions of the signing-certificate attribute, times with a
// fraction and every optional field. Its refusals are read too.
func TestOpenSSLAuthority(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 3072)
	testenv.NoError(t, err)
	p256Key := certtest.NewKey(t, elliptic.P256())
	for hash, key := range map[string]crypto.Signer{"sha1": rsaKey, "sha256": p256Key, "sha512": rsaKey} {
		request := changedRequest(func(r *Request) { r.Nonce = new(big.Int).Lsh(big.NewInt(3), 62) })
		before := time.Now()
		der, err := ParseResponse(opensslRespond(t, key, hash, request))
		if err != nil {
			t.Fatalf("%s: %v", hash, err)
		}
		token, err := request.Check(der)
		if err != nil {
			t.Fatalf("%s: %v", hash, err)
		}
		if d := token.Time.Sub(before); d < -time.Second || d > time.Minute {
			t.Errorf("%s: got time %v, want %v", hash, token.Time, before)
		}
		if token.Accuracy != 1500*time.Millisecond+100*time.Microsecond || len(token.Certificates) != 2 {
			t.Errorf("%s: got accuracy %v and %d certificates, want 1.5001s and 2", hash, token.Accuracy, len(token.Certificates))
		}
	}
	for want, request := range map[Failure]Request{
		UnacceptedPolicy: changedRequest(func(r *Request) { r.Policy = otherPolicy }),
		BadAlg:           changedRequest(func(r *Request) { r.Hash, r.Sum = crypto.SHA1, make([]byte, 20) }),
	} {
		_, err := ParseResponse(opensslRespond(t, p256Key, "sha256", request))
		var refusal *StatusError
		if !errors.As(err, &refusal) || refusal.Failure != want || refusal.Status != Rejection || refusal.Text == "" || refusal.Temporary() {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// TestForeignTokens verifies the tokens in signed PDF files of the corpus, and compares the results with those of
// openssl, which trusts the certificates of the token. Chains are not checked.
func TestForeignTokens(t *testing.T) {
	o := testenv.NewOpenSSL(t)
	tokens := foreignTokens(t)
	if len(tokens) < 50 {
		t.Fatalf("got %d tokens, want at least 50", len(tokens))
	}
	for name, token := range tokens {
		out, refusal := o.Try("ts", "-verify", "-token_in", "-in", o.Write("token", token.Raw), "-digest", hex.EncodeToString(token.Sum),
			"-CAfile", o.Write("certs.pem", certtest.PEM(token.Certificates...)), "-partial_chain", "-attime", fmt.Sprint(token.Time.Unix()))
		if strings.Contains(out, "asn1 encoding routines") {
			refusal = nil // openssl cannot read an attribute
		}
		if err := token.Verify(); (err == nil) != (refusal == nil) || errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v, openssl prints %s", name, err, out)
		}
	}
}

// foreignTokens returns the document timestamps and signature timestamps in signed PDF files of the corpus.
func foreignTokens(t *testing.T) map[string]*Token {
	t.Helper()
	contents := regexp.MustCompile(`/Contents\s*<([0-9A-Fa-f]{1000,})>`)
	files, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/pdf"), "*.pdf"))
	testenv.NoError(t, err)
	tokens := make(map[string]*Token)
	for _, file := range files {
		content, err := os.ReadFile(file)
		testenv.NoError(t, err)
		for i, match := range contents.FindAllSubmatch(content, -1) {
			der, err := hex.DecodeString(string(match[1]))
			if err != nil {
				continue
			}
			name := fmt.Sprintf("%s %d", filepath.Base(file), i)
			if signed, err := cms.Parse(der); err == nil {
				for j, token := range signed.SignatureTimestamps() {
					tokens[fmt.Sprintf("%s.%d", name, j)] = mustParse(t, token)
				}
			} else if token, err := ParseToken(der); err == nil {
				tokens[name] = token
			}
		}
	}
	return tokens
}
