package webhook_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/webhook"
)

// Whatever comes, there is no panic, and what is accepted is what the rules of spec 5.5
// accept when they are worked out anew.
func FuzzVerify(f *testing.F) {
	for _, s := range []struct{ id, at, signatures, body string }{
		{vectorID, "1614265330", hexV1 + " " + officialV1a, vectorBody},
		{vectorID, "1614265330", "v2, " + hexV1, vectorBody},
		{"a.b", "1614265330", hexV1, vectorBody},
		{"a", "01614265330", "v1,", ""},
		{"a", "9223372036854775807", " , ,", "{}"},
	} {
		f.Add(s.id, s.at, s.signatures, []byte(s.body))
	}
	secret, private := mustHex(f, hexSecret), vectorKey(f)
	keys := []webhook.Key{webhook.Secret(secret), webhook.PublicKey(private.Public().(ed25519.PublicKey))}
	f.Fuzz(func(t *testing.T, id, at, signatures string, body []byte) {
		agree := func(list string) {
			h := http.Header{webhook.HeaderID: {id}, webhook.HeaderTimestamp: {at}, webhook.HeaderSignature: {list}}
			accepted := webhook.VerifyAt(vectorTime, h, body, keys...) == nil
			if want := wellFormed(id, at) && signedBy(secret, private, id+"."+at+"."+string(body), list); accepted != want {
				t.Errorf("%q %q %q %q: accepted is %t", id, at, list, body, accepted)
			}
		}
		agree(signatures)
		if seconds, err := strconv.ParseInt(at, 10, 64); err == nil && seconds == vectorTime.Unix() {
			agree(signatures + " " + webhook.SignV1(secret, id, vectorTime, body))
			agree(webhook.SignV1a(private, id, vectorTime, body) + " " + signatures)
		}
	})
}

// wellFormed says whether an ID and a time may be signed.
func wellFormed(id, at string) bool {
	visible := strings.IndexFunc(id, func(r rune) bool { return r < '!' || r > '~' }) < 0
	seconds, err := strconv.Atoi(at)
	return visible && id != "" && len(id) <= 256 && !strings.Contains(id, ".") &&
		err == nil && strconv.Itoa(seconds) == at && max(seconds-1614265330, 1614265330-seconds) <= 300
}

// signedBy says whether the list has a signature of either key.
func signedBy(secret []byte, private ed25519.PrivateKey, content, list string) bool {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(content))
	v1 := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	v1a := "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(content)))
	if strings.Count(list, " ") > 15 {
		return false
	}
	for _, item := range strings.Split(list, " ") {
		if item == v1 || item == v1a {
			return true
		}
	}
	return false
}
