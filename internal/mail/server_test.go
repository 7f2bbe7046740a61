package mail

import (
	"errors"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"
)

func TestServer(t *testing.T) {
	b := &inbox{}
	send(t, "smtp://"+serve(t, b, nil, false)+"?tls=none")
	if b.from != "bounces@example.is" || strings.Join(b.to, " ") != "one@example.is two@example.is" || len(b.bodies) != 1 {
		t.Fatalf("from %q to %q, %d messages", b.from, b.to, len(b.bodies))
	}
	judge(t, b.bodies[0])
}

func TestServerWithPassword(t *testing.T) {
	for scheme, fromTheStart := range map[string]bool{"smtp://": false, "smtps://": true} {
		for password, right := range map[string]bool{"secret": true, "wrong": false} {
			b, config := &inbox{}, certificate(t)
			transport, err := Parse(scheme+"user:"+password+"@"+serve(t, b, config, fromTheStart), from)
			if err != nil {
				t.Fatal(err)
			}
			to := transport.(server)
			to.roots = trusting(t, config)
			err = to.Send(t.Context(), message)
			if (err == nil) != right || right && (b.user != "user" || len(b.bodies) != 1) {
				t.Errorf("%s %s: %v, logged in as %q, %d messages", scheme, password, err, b.user, len(b.bodies))
			}
			if err != nil && (strings.Contains(err.Error(), "wrong") || errors.Is(err, ErrRefused)) {
				t.Error(err)
			}
		}
	}
}

// A server whose certificate nobody trusts, or that has no TLS, gets nothing.
func TestServerWithoutTrust(t *testing.T) {
	for name, fromTheStart := range map[string]bool{"smtp://": false, "smtps://": true} {
		b := &inbox{}
		transport, err := Parse(name+serve(t, b, certificate(t), fromTheStart), from)
		if err != nil {
			t.Fatal(err)
		}
		if err := transport.Send(t.Context(), message); err == nil || len(b.bodies) != 0 {
			t.Errorf("%s: %v, %d messages", name, err, len(b.bodies))
		}
	}
	b := &inbox{}
	transport, err := Parse("smtp://"+serve(t, b, nil, false), from)
	if err != nil {
		t.Fatal(err)
	}
	if err := transport.Send(t.Context(), message); err == nil || len(b.bodies) != 0 {
		t.Errorf("without STARTTLS: %v, %d messages", err, len(b.bodies))
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		code int
		want bool
	}{{550, true}, {451, false}} {
		b := &inbox{refuse: &smtp.SMTPError{Code: test.code, Message: "no one@example.is here"}}
		transport, err := Parse("smtp://"+serve(t, b, nil, false)+"?tls=none", from)
		if err != nil {
			t.Fatal(err)
		}
		err = transport.Send(t.Context(), message)
		if err == nil || errors.Is(err, ErrRefused) != test.want || strings.Contains(err.Error(), "one@") {
			t.Errorf("%d: %v", test.code, err)
		}
	}
}
