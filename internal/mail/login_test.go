package mail

import (
	"errors"
	"strings"
	"testing"
)

// Each way to log in works with the right password, and with a wrong one nothing is sent.
func TestAuthentications(t *testing.T) {
	for _, by := range Authentications[:len(Authentications)-1] {
		for _, scheme := range []string{"smtp", "smtps"} {
			for password, right := range map[string]bool{"secret": true, "wrong": false} {
				t.Run(string(by)+" "+scheme+" "+password, func(t *testing.T) {
					b, config := new(inbox).all(), certificate(t)
					transport := parsed(t, scheme+"://"+serve(t, b, config, scheme == "smtps"), Options{
						User: "Þóra", Password: password, Authentication: by, Roots: trusting(t, config),
					})
					err := transport.Send(t.Context(), message)
					if (err == nil) != right || right != (b.user == "Þóra") || right != (len(b.bodies) == 1) {
						t.Errorf("%v, logged in as %q, %d messages", err, b.user, len(b.bodies))
					}
					f := new(Failure)
					if !right && (!errors.As(err, &f) || f.Step != Authenticating || f.Permanent || strings.Contains(err.Error(), "wrong")) {
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

// The best that is offered is taken; what is not offered is not tried.
func TestChosenAuthentication(t *testing.T) {
	for offered, want := range map[string]string{
		"SCRAM-SHA-256 SCRAM-SHA-1 PLAIN LOGIN CRAM-MD5": "SCRAM-SHA-256", "CRAM-MD5 LOGIN PLAIN": "PLAIN", "CRAM-MD5 LOGIN": "LOGIN", "CRAM-MD5": "CRAM-MD5", "": "",
	} {
		b, config := new(inbox).all(), certificate(t)
		for name := range b.mechanisms {
			if !strings.Contains(" "+offered+" ", " "+name+" ") {
				delete(b.mechanisms, name)
			}
		}
		err := parsed(t, "smtp://user:secret@"+serve(t, b, config, false), Options{Roots: trusting(t, config)}).Send(t.Context(), message)
		if strings.Join(b.tried, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%q: tried %v: %v", offered, b.tried, err)
		}
	}
	b, config := new(inbox).all(), certificate(t)
	delete(b.mechanisms, "PLAIN")
	err := parsed(t, "smtp://user:secret@"+serve(t, b, config, false)+"?auth=plain", Options{Roots: trusting(t, config)}).Send(t.Context(), message)
	if err == nil || len(b.tried) > 0 {
		t.Errorf("what is not offered: tried %v: %v", b.tried, err)
	}
}

// Who stands between us and the server and takes STARTTLS out of what it offers gets no password.
func TestPasswordWithoutTLS(t *testing.T) {
	b := new(inbox).all()
	err := parsed(t, "smtp://user:secret@"+serve(t, b, nil, false), Options{}).Send(t.Context(), message)
	if f := new(Failure); !errors.As(err, &f) || f.Step != StartingTLS || len(b.tried) > 0 || len(b.bodies) > 0 {
		t.Errorf("%v, tried %v, %d messages", err, b.tried, len(b.bodies))
	}
	b = new(inbox).all()
	err = parsed(t, "smtp://user:secret@"+serve(t, b, nil, false)+"?tls=none&auth=plain", Options{}).Send(t.Context(), message)
	if err != nil || b.user != "user" {
		t.Errorf("on this machine: %v, logged in as %q", err, b.user)
	}
}
