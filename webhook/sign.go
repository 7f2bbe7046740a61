package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"
)

// SignV1 signs a request with a subscription's secret. The signature is one item of the
// header webhook-signature.
func SignV1(secret []byte, id string, at time.Time, body []byte) string {
	return string(V1) + "," + base64.StdEncoding.EncodeToString(authenticate(secret, content(id, at, body)))
}

// SignV1a signs a request with the service's key.
func SignV1a(key ed25519.PrivateKey, id string, at time.Time, body []byte) string {
	return string(V1a) + "," + base64.StdEncoding.EncodeToString(ed25519.Sign(key, content(id, at, body)))
}

// content is what is signed (spec 5.5).
func content(id string, at time.Time, body []byte) []byte {
	return append(append(strconv.AppendInt([]byte(id+"."), at.Unix(), 10), '.'), body...)
}

func authenticate(secret, content []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(content)
	return mac.Sum(nil)
}
