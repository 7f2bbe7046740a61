package mail

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, good := range []string{
		"smtp://mail.example", "smtp://mail.example:2525", "smtp://mail.example?tls=starttls", "smtps://u:p@mail.example",
		"smtp://mail.example?tls=none", "dir:mail", "dir:/var/mail/out",
	} {
		if _, err := Parse(good, from); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "dir:", "mail.example", "http://mail.example", "smtp://", "smtp://mail.example/path", "smtp://mail.example:0",
		"smtp://mail.example:70000", "smtps://mail.example?tls=none", "smtp://mail.example?tls=maybe", "smtp://u:hidden@mail.example?tls=none",
		"smtp://u:hidden@mail.example:port",
	} {
		if _, err := Parse(bad, from); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Each field is judged by itself, and one that is empty has no fault but in a sender of messages.
func TestSender(t *testing.T) {
	for name, test := range map[string]struct {
		sender                  Sender
		from, replyTo, envelope bool // has a fault
		taken                   bool
	}{
		"all":                    {from, false, false, false, true},
		"an address alone":       {Sender{From: "a@b.is"}, false, false, false, true},
		"nothing":                {Sender{}, false, false, false, false},
		"no address":             {Sender{From: "nobody"}, true, false, false, false},
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
			if _, err := Parse("dir:mail", test.sender); (err == nil) != test.taken {
				t.Errorf("taken: %v", err)
			}
		})
	}
}
