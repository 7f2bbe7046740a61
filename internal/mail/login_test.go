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
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// TestAuthentications checks that each mechanism works with the right password, and that with a wrong one nothing
// is sent.
func TestAuthentications(t *testing.T) {
	for _, by := range Authentications[:len(Authentications)-1] {
		for _, scheme := range []string{"smtp", "smtps"} {
			for password, right := range map[string]bool{"secret": true, "wrong": false} {
				t.Run(string(by)+" "+scheme+" "+password, func(t *testing.T) {
					b, config := new(inbox).all(), certificate(t)
					transport := transport(t, scheme+"://"+serve(t, b, config, scheme == "smtps"), Options{
						User: "Þóra", Password: password, Authentication: by, Roots: trusting(t, config),
					})
					err := transport.Send(t.Context(), message)
					if (err == nil) != right || right != (b.user == "Þóra") || right != (len(b.bodies) == 1) {
						t.Errorf("%v, logged in as %q, %d messages", err, b.user, len(b.bodies))
					}
					f := new(Failure)
					if !right && (!errors.As(err, &f) || f.Step != StepAuth || f.Permanent || strings.Contains(err.Error(), "wrong")) {
						t.Error(err)
					}
					if want := strings.ToUpper(string(by)); by != Auto && strings.Join(b.tried, " ") != want || by == Auto && b.tried[0] != "SCRAM-SHA-256" {
						t.Errorf("tried %v", b.tried)
					}
				})
			}
		}
	}
}

// TestMechanism checks that the client uses the best mechanism that the server offers, and no other.
func TestMechanism(t *testing.T) {
	for offered, want := range map[string]string{
		"SCRAM-SHA-256 SCRAM-SHA-1 PLAIN LOGIN CRAM-MD5": "SCRAM-SHA-256", "CRAM-MD5 LOGIN PLAIN": "PLAIN", "CRAM-MD5 LOGIN": "LOGIN", "CRAM-MD5": "CRAM-MD5", "": "",
	} {
		b, config := new(inbox).all(), certificate(t)
		for name := range b.mechanisms {
			if !strings.Contains(" "+offered+" ", " "+name+" ") {
				delete(b.mechanisms, name)
			}
		}
		err := transport(t, "smtp://user:secret@"+serve(t, b, config, false), Options{Roots: trusting(t, config)}).Send(t.Context(), message)
		if strings.Join(b.tried, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%q: tried %v: %v", offered, b.tried, err)
		}
	}
	b, config := new(inbox).all(), certificate(t)
	delete(b.mechanisms, "PLAIN")
	err := transport(t, "smtp://user:secret@"+serve(t, b, config, false)+"?auth=plain", Options{Roots: trusting(t, config)}).Send(t.Context(), message)
	if err == nil || len(b.tried) > 0 {
		t.Errorf("what is not offered: tried %v: %v", b.tried, err)
	}
}

// TestPasswordWithoutTLS checks that an attacker who removes STARTTLS from the server's extensions gets no password.
func TestPasswordWithoutTLS(t *testing.T) {
	b := new(inbox).all()
	err := transport(t, "smtp://user:secret@"+serve(t, b, nil, false), Options{}).Send(t.Context(), message)
	if f := new(Failure); !errors.As(err, &f) || f.Step != StepStartTLS || len(b.tried) > 0 || len(b.bodies) > 0 {
		t.Errorf("%v, tried %v, %d messages", err, b.tried, len(b.bodies))
	}
	b = new(inbox).all()
	err = transport(t, "smtp://user:secret@"+serve(t, b, nil, false)+"?tls=none&auth=plain", Options{}).Send(t.Context(), message)
	if err != nil || b.user != "user" {
		t.Errorf("on this machine: %v, logged in as %q", err, b.user)
	}
}

// all makes b accept a user by every mechanism.
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

// loginServer is the server of LOGIN, which asks for the name and then the password.
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

// cramServer is the server of CRAM-MD5 (RFC 2195).
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

// scramServer is the server of SCRAM (RFC 5802).
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
