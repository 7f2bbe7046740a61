package webhook_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

// The request of Standard Webhooks 1.0.0 (libraries/go, TestWebhookSign), which all vectors sign.
const (
	vectorID   = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	vectorBody = `{"test": 2432232314}`
)

var vectorTime = time.Unix(1614265330, 0)

const (
	hexSecret      = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	hexAsStandard  = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	officialSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	privateKey     = "6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==" // of the tests of Svix
	standardPublic = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="
	openSSHPublic  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINUogOKPYcqkwqSKguVfR1GpIomngAnqn2UyJwwWzoq+"

	officialV1  = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	hexV1       = "v1,O4Gjv1HqPqsMrjmczoggs/sWA8gZD0VyHG+fLh4+ktI="
	officialV1a = "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="
)

func TestVectors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		key       string
		signature string
		want      error
	}{
		{"v1 of Standard Webhooks", officialSecret, officialV1, nil},
		{"v1 with the secret in hexadecimal", hexSecret, hexV1, nil},
		{"the same in upper case", strings.ToUpper(hexSecret), hexV1, nil},
		{"the same as Standard Webhooks has it", hexAsStandard, hexV1, nil},
		{"v1a", standardPublic, officialV1a, nil},
		{"the same as OpenSSH has it", openSSHPublic, officialV1a, nil},
		{"with a comment", openSSHPublic + " webhooks of sign.example\n", officialV1a, nil},
		{"another secret", hexSecret, officialV1, webhook.ErrSignature},
		{"wrong: made with the text of the hexadecimal", hexSecret, "v1,WaBzMbT9U5Ev3odHYI4btHnbcon+nWq921QLibX+UFc=", webhook.ErrSignature},
		{"wrong: made with the hexadecimal read as Base64", hexSecret, "v1,2I4sIS18ofHXz9ce2mNcLHUOFRMa4LygojPaAgRV91s=", webhook.ErrSignature},
		{"v1 under the name of v1a", standardPublic, "v1a" + strings.TrimPrefix(officialV1, "v1"), webhook.ErrSignature},
		{"v1a for a key of v1", officialSecret, officialV1a, webhook.ErrSignature},
		{"v1 for a key of v1a", standardPublic, officialV1, webhook.ErrSignature},
	} {
		t.Run(test.name, func(t *testing.T) {
			key := mustParse(t, test.key)
			if err := webhook.VerifyAt(vectorTime, vectorHeaders(test.signature), []byte(vectorBody), key); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// The wrong signatures of the vectors are what those mistakes make.
func TestWrongVectorsAreThoseMistakes(t *testing.T) {
	t.Parallel()
	asBase64, err := base64.StdEncoding.DecodeString(hexSecret)
	if err != nil {
		t.Fatal(err)
	}
	for want, secret := range map[string][]byte{
		"v1,WaBzMbT9U5Ev3odHYI4btHnbcon+nWq921QLibX+UFc=": []byte(hexSecret),
		"v1,2I4sIS18ofHXz9ce2mNcLHUOFRMa4LygojPaAgRV91s=": asBase64,
	} {
		if got := webhook.SignV1(secret, vectorID, vectorTime, []byte(vectorBody)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestSigningMakesTheVectors(t *testing.T) {
	t.Parallel()
	if got := webhook.SignV1(mustHex(t, hexSecret), vectorID, vectorTime, []byte(vectorBody)); got != hexV1 {
		t.Errorf("%s, want %s", got, hexV1)
	}
	if got := webhook.SignV1a(vectorKey(t), vectorID, vectorTime, []byte(vectorBody)); got != officialV1a {
		t.Errorf("%s, want %s", got, officialV1a)
	}
}

// vectorHeaders are the headers of the vectors' request.
func vectorHeaders(signatures ...string) http.Header {
	return headers(vectorID, vectorTime, signatures...)
}

func headers(id string, at time.Time, signatures ...string) http.Header {
	return http.Header{
		webhook.HeaderID:        {id},
		webhook.HeaderTimestamp: {strconv.FormatInt(at.Unix(), 10)},
		webhook.HeaderSignature: {strings.Join(signatures, " ")},
	}
}

// vectorKey is the private key of v1a's vector.
func vectorKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(privateKey)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mustParse(t testing.TB, text string) webhook.Key {
	t.Helper()
	key, err := webhook.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mustHex(t testing.TB, text string) []byte {
	t.Helper()
	decoded, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}
