package mail

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, good := range []string{
		"smtp://mail.example", "smtp://mail.example:2525", "smtp://mail.example?tls=starttls", "smtps://u:p@mail.example",
		"smtp://mail.example?tls=none", "dir:mail", "dir:/var/mail/out", "smtps://mail.example?tls=implicit", "smtp://u:p@localhost?tls=none",
		"smtp://u:p@[::1]?tls=opportunistic", "smtp://u:p@mail.example?auth=scram-sha-256&tls=starttls", "smtp://mail.example?auth=none",
	} {
		if _, err := Parse(good, Options{Sender: from}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, field := range map[string]string{
		"": "address", "dir:": "address", "mail.example": "address", "http://mail.example": "address", "smtp://": "address",
		"smtp://mail.example/path": "address", "smtp://mail.example:0": "address", "smtp://mail.example:70000": "address",
		"smtps://mail.example?tls=none": "address", "smtp://mail.example?tls=maybe": "tls", "smtp://mail.example?auth=ntlm": "authentication",
		"smtp://mail.example?tls=none&tls=none": "address", "smtp://mail.example?tls=": "address", "smtp://mail.example?verify=no": "address",
		"smtp://u:hidden@mail.example?tls=none": "tls", "smtp://u:hidden@mail.example?tls=opportunistic": "tls", "smtp://u:hidden@mail.example:port": "address",
		"smtp://u:hidden@mail.example?auth=none": "authentication", "smtp://hidden@mail.example": "password", "smtp://:hidden@mail.example": "username",
		"smtp://mail.example?auth=plain": "username",
	} {
		f := new(OptionError)
		if _, err := Parse(bad, Options{Sender: from}); !errors.As(err, &f) || f.Field != field || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestOptions checks that options complete the address and must not contradict it.
func TestOptions(t *testing.T) {
	for name, test := range map[string]struct {
		address string
		options Options
		field   string // of the fault; "": none
	}{
		"all":                           {"smtp://mail.example", Options{TLS: Implicit, Authentication: Login, User: "u", Password: "p", Name: "mta.example.is", Timeout: time.Minute}, ""},
		"the same":                      {"smtps://u:p@mail.example?auth=plain", Options{TLS: Implicit, Authentication: Plain, User: "u", Password: "p"}, ""},
		"a user, and the password":      {"smtp://u@mail.example", Options{Password: "p"}, ""},
		"another TLS":                   {"smtps://mail.example", Options{TLS: StartTLS}, "tls"},
		"another authentication":        {"smtp://u:p@mail.example?auth=plain", Options{Authentication: Login}, "authentication"},
		"another user":                  {"smtp://u:p@mail.example", Options{User: "v"}, "username"},
		"another password":              {"smtp://u:p@mail.example", Options{Password: "q"}, "password"},
		"no TLS for a password":         {"smtp://u:p@mail.example", Options{TLS: NoTLS}, "tls"},
		"a password without username":   {"smtp://mail.example", Options{Password: "p"}, "username"},
		"a name of two lines":           {"smtp://mail.example", Options{Name: "a\r\nMAIL FROM:<>"}, "hello-name"},
		"a name with a space":           {"smtp://mail.example", Options{Name: "a b"}, "hello-name"},
		"an address in place of a name": {"smtp://mail.example", Options{Name: "[192.0.2.1]"}, ""},
		"too short":                     {"smtp://mail.example", Options{Timeout: MinTimeout - 1}, "timeout"},
		"too long":                      {"smtp://mail.example", Options{Timeout: MaxTimeout + 1}, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Sender = from
			f := new(OptionError)
			_, err := Parse(test.address, test.options)
			if (err != nil) != (test.field != "") || errors.As(err, &f) && f.Field != test.field {
				t.Error(err)
			}
		})
	}
}

// TestSender checks that each field is checked separately, and that only From is mandatory.
func TestSender(t *testing.T) {
	for name, test := range map[string]struct {
		sender                  Sender
		from, replyTo, envelope bool // has a fault
		taken                   bool
	}{
		"all":                    {from, false, false, false, true},
		"an address alone":       {Sender{From: "a@b.is"}, false, false, false, true},
		"nothing":                {Sender{}, false, false, false, false},
		"no address":             {Sender{From: "mailer"}, true, false, false, false},
		"replies to none":        {Sender{From: "a@b.is", ReplyTo: "x"}, false, true, false, false},
		"failures to a name":     {Sender{From: "a@b.is", Envelope: "Name <x@b.is>"}, false, false, true, false},
		"failures to none":       {Sender{From: "a@b.is", Envelope: "x"}, false, false, true, false},
		"all three":              {Sender{From: "x", ReplyTo: "x", Envelope: "x"}, true, true, true, false},
		"replies, and no sender": {Sender{ReplyTo: "a@b.is"}, false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			from, replyTo, envelope := test.sender.Check()
			if (from != nil) != test.from || (replyTo != nil) != test.replyTo || (envelope != nil) != test.envelope {
				t.Errorf("from: %v; replies: %v; failures: %v", from, replyTo, envelope)
			}
			if _, err := Parse("dir:mail", Options{Sender: test.sender}); (err == nil) != test.taken {
				t.Errorf("taken: %v", err)
			}
		})
	}
}
