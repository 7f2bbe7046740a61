package mail

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// all have b know a user by every mechanism.
func (b *inbox) all() *inbox {
	b.mechanisms = map[string]func() sasl.Server{
		"PLAIN": func() sasl.Server {
			return sasl.NewPlainServer(func(_, user, password string) error { return b.let(user, password == "secret") })
		},
		"LOGIN":         func() sasl.Server { return &loginServer{b: b} },
		"CRAM-MD5":      func() sasl.Server { return &cramServer{b: b} },
		"SCRAM-SHA-1":   func() sasl.Server { return &scramServer{b: b, hash: sha1.New} },
		"SCRAM-SHA-256": func() sasl.Server { return &scramServer{b: b, hash: sha256.New} },
	}
	return b
}

func (b *inbox) let(user string, in bool) error {
	if !in {
		return smtp.ErrAuthFailed
	}
	b.user = user
	return nil
}

// loginServer asks for the name and then the password.
type loginServer struct {
	b    *inbox
	said []string
}

func (s *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	if response != nil {
		s.said = append(s.said, string(response))
	}
	switch len(s.said) {
	case 0:
		return []byte("Username:"), false, nil
	case 1:
		return []byte("Password:"), false, nil
	}
	return nil, true, s.b.let(s.said[0], s.said[1] == "secret")
}

// cramServer is of RFC 2195.
type cramServer struct {
	b     *inbox
	asked bool
}

const challenge = "<1896.697170952@mail.example.is>"

func (s *cramServer) Next(response []byte) ([]byte, bool, error) {
	if !s.asked {
		s.asked = true
		return []byte(challenge), false, nil
	}
	sum := hmac.New(md5.New, []byte("secret"))
	sum.Write([]byte(challenge))
	user, digest, _ := strings.Cut(string(response), " ")
	return nil, true, s.b.let(user, digest == fmt.Sprintf("%x", sum.Sum(nil)))
}

// scramServer is of RFC 5802.
type scramServer struct {
	b                  *inbox
	hash               func() hash.Hash
	user, first, asked string // client-first-message-bare and server-first-message
	proved             bool
}

const salt = "a salt of four words"

func (s *scramServer) Next(response []byte) ([]byte, bool, error) {
	switch {
	case s.proved:
		return nil, true, s.b.let(s.user, true)
	case response == nil:
		return []byte{}, false, nil
	case s.first == "":
		bare, ok := strings.CutPrefix(string(response), "n,,")
		user, nonce, _ := strings.Cut(strings.TrimPrefix(bare, "n="), ",r=")
		if !ok {
			return nil, true, errors.New("no client-first-message")
		}
		s.user, s.first = user, bare
		s.asked = "r=" + nonce + "more,s=" + base64.StdEncoding.EncodeToString([]byte(salt)) + ",i=4096"
		return []byte(s.asked), false, nil
	}
	without, proof, _ := strings.Cut(string(response), ",p=")
	salted, err := pbkdf2.Key(s.hash, "secret", []byte(salt), 4096, s.hash().Size())
	if err != nil {
		return nil, true, err
	}
	said := s.first + "," + s.asked + "," + without
	key := s.sum(salted, "Client Key")
	stored := s.hash()
	stored.Write(key)
	want := s.sum(stored.Sum(nil), said)
	subtle.XORBytes(want, want, key)
	if base64.StdEncoding.EncodeToString(want) != proof {
		return nil, true, smtp.ErrAuthFailed
	}
	s.proved = true
	return []byte("v=" + base64.StdEncoding.EncodeToString(s.sum(s.sum(salted, "Server Key"), said))), false, nil
}

func (s *scramServer) sum(key []byte, text string) []byte {
	sum := hmac.New(s.hash, key)
	sum.Write([]byte(text))
	return sum.Sum(nil)
}
