package openid_test

import (
	"crypto"
	"crypto/rsa"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

func TestTheAppSigns(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{Pin: "documentNr"})
	person := jon(t)
	p.Person(person)
	chosen := approved(t, p, fields{"login_hint": person.Kennitala, "acr_values": "app-certificate-choice"})
	want := fields{
		"sub": chosen["sub"], "name": person.Name, "nationalRegisterId": person.Kennitala,
		"certificate": encoded(person.Certificate), "documentNr": person.Document, "signature": "na",
	}
	if diff := cmp.Diff(want, chosen); diff != "" {
		t.Fatal(diff)
	}
	for _, hash := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		request := sign("app-sign-with-certificate", person.Kennitala, hash)
		request["documentNr"] = chosen["documentNr"]
		checkPKCS1(t, hash, approved(t, p, request)["signature"])
	}
	last := p.Asked()[3].Claims
	if last["binding_message"] != message || last["scope"] != "openid profile signature RELATEDPARTY:Innsigli" {
		t.Errorf("asked: %v", last)
	}
}

func TestTheSIMCardSigns(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := jon(t)
	p.Person(person)
	got := approved(t, p, sign("sim-sign-pkcs1", person.Phone, crypto.SHA256))
	checkPKCS1(t, crypto.SHA256, got["signature"])
	if got["certificate"] != encoded(person.Certificate) || got["documentNr"] != "na" {
		t.Errorf("got %v", got)
	}
}

// The CMS is verified by openssl, which is not ours.
func TestTheSIMCardMakesACMS(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	p := openidtest.Start(t, openidtest.Options{})
	person := jon(t)
	p.Person(person)
	for _, hash := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		got := approved(t, p, sign("sim-sign", person.Phone, hash))
		if got["certificate"] != "na" {
			t.Errorf("certificate: %v", got["certificate"])
		}
		folder := t.TempDir()
		write(t, filepath.Join(folder, "content"), []byte(content))
		write(t, filepath.Join(folder, "cms"), decoded(t, got["signature"]))
		verify := exec.CommandContext(t.Context(), openssl, "cms", "-verify", "-binary", "-noverify",
			"-inform", "DER", "-in", "cms", "-content", "content", "-out", "out")
		verify.Dir = folder
		if out, err := verify.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", hash, err, out)
		}
	}
}

const (
	content = "undirritað"
	message = "Samningur við Þórð 1234"
)

// sign is a request to sign the content.
func sign(acr, hint string, hash crypto.Hash) fields {
	return fields{
		"login_hint": hint, "acr_values": acr,
		"binding_message": message, "binding_content": encoded(digest(hash)),
	}
}

func digest(hash crypto.Hash) []byte {
	h := hash.New()
	h.Write([]byte(content))
	return h.Sum(nil)
}

func checkPKCS1(t *testing.T, hash crypto.Hash, claim any) {
	t.Helper()
	if err := rsa.VerifyPKCS1v15(&openidtest.RSAKey().PublicKey, hash, digest(hash), decoded(t, claim)); err != nil {
		t.Errorf("%v: %v", hash, err)
	}
}

func encoded(content []byte) string { return base64.StdEncoding.EncodeToString(content) }

func decoded(t *testing.T, claim any) []byte {
	t.Helper()
	content, err := base64.StdEncoding.DecodeString(claim.(string))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
