package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

const (
	// cookieName is of a kind that browsers take over TLS alone, from this host, and for no other
	// (RFC 6265bis 4.1.3.2).
	cookieName = "__Host-innsigli"
	cookieLen  = 32 // bytes, before they are written in base64url
)

// newCookie draws the value of a cookie, or the name of a form, which looks like one.
func newCookie() string { return base64.RawURLEncoding.EncodeToString(newSeed()) }

func newSeed() []byte {
	seed := make([]byte, cookieLen)
	rand.Read(seed)
	return seed
}

// cookieFrom makes the value of a cookie of a seed, which is in the store, and of a secret, which is in
// the browser: it takes both to know it, and whoever comes twice with the same secret gets the same.
func cookieFrom(seed []byte, secret string) string {
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// cookieOf is the value of the cookie of a request; empty: it has none.
func cookieOf(r *http.Request) string {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// visitKey is what a visit is looked up by: a copy of the store admits nobody. It is nil for what is no
// value of a cookie.
func visitKey(cookie string) []byte {
	random, err := base64.RawURLEncoding.Strict().DecodeString(cookie)
	if err != nil || len(random) != cookieLen {
		return nil
	}
	return recordKey("visit", cookie)
}

// recordKey is the key of a record of a kind.
func recordKey(kind, name string) []byte {
	sum := sha256.Sum256([]byte(kind + " " + name))
	return sum[:]
}

// setCookie gives the browser a cookie for as long as it is open; an empty value takes it away.
func setCookie(w http.ResponseWriter, value string) {
	c := http.Cookie{Name: cookieName, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, &c)
}
