package mail

import (
	"cmp"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
)

// parsed is a transport to an address, with further options. Unless they say otherwise it waits for a server as long
// as the test may take.
func parsed(t *testing.T, address string, o Options) Transport {
	t.Helper()
	o.Sender = from
	transport, err := Parse(address, o)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := transport.(server); ok && o.Timeout == 0 {
		s.options.Timeout = time.Hour
		return s
	}
	return transport
}

func TestServer(t *testing.T) {
	b := &inbox{}
	if err := parsed(t, "smtp://"+serve(t, b, nil, false)+"?tls=none", Options{}).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if b.from != "bounces@example.is" || strings.Join(b.to, " ") != "one@example.is two@example.is" || len(b.bodies) != 1 {
		t.Fatalf("from %q to %q, %d messages", b.from, b.to, len(b.bodies))
	}
	judge(t, b.bodies[0])
}

// Each protection takes what it says, and nothing less.
func TestProtections(t *testing.T) {
	for name, test := range map[string]struct {
		scheme, query         string
		offered, fromTheStart bool // TLS, by the server
		trusted               bool // its certificate
		step                  Step // that fails; "": none
		protected             bool
		says                  string
		fromOptions           TLS // in place of the query
	}{
		"STARTTLS":                             {scheme: "smtp", offered: true, trusted: true, protected: true},
		"STARTTLS, said":                       {scheme: "smtp", query: "?tls=starttls", offered: true, trusted: true, protected: true},
		"STARTTLS, by options":                 {scheme: "smtp", fromOptions: StartTLS, offered: true, trusted: true, protected: true},
		"STARTTLS that is not trusted":         {scheme: "smtp", offered: true, step: StartingTLS, says: "not trusted"},
		"STARTTLS that is not offered":         {scheme: "smtp", step: StartingTLS, says: "does not offer"},
		"TLS from the start":                   {scheme: "smtps", offered: true, fromTheStart: true, trusted: true, protected: true},
		"TLS from the start, by options":       {scheme: "smtp", fromOptions: Implicit, offered: true, fromTheStart: true, trusted: true, protected: true},
		"TLS from the start, not trusted":      {scheme: "smtps", offered: true, fromTheStart: true, step: Connecting, says: "not trusted"},
		"TLS from the start, and there is not": {scheme: "smtps", trusted: true, step: Connecting},
		"opportunistic, offered":               {scheme: "smtp", query: "?tls=opportunistic", offered: true, protected: true},
		"opportunistic, not offered":           {scheme: "smtp", query: "?tls=opportunistic"},
		"none, offered":                        {scheme: "smtp", query: "?tls=none", offered: true, trusted: true},
		"none":                                 {scheme: "smtp", fromOptions: NoTLS},
	} {
		t.Run(name, func(t *testing.T) {
			b, config := &inbox{}, certificate(t)
			if !test.offered {
				config = nil
			}
			o := Options{TLS: test.fromOptions}
			if config != nil && test.trusted {
				o.Roots = trusting(t, config)
			}
			err := parsed(t, test.scheme+"://"+serve(t, b, config, test.fromTheStart)+test.query, o).Send(t.Context(), message)
			f := new(Failure)
			if test.step != "" {
				if !errors.As(err, &f) || f.Step != test.step || !strings.Contains(err.Error(), test.says) || f.Permanent || len(b.bodies) > 0 {
					t.Errorf("%v, %d messages", err, len(b.bodies))
				}
			} else if err != nil || len(b.bodies) != 1 || b.protected != test.protected {
				t.Errorf("%v, %d messages, protected: %v", err, len(b.bodies), b.protected)
			}
		})
	}
}

// What is answered to a recipient or a message is about it; what is answered to the sender's address or a
// login can be mended while messages wait.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		at   Step
		code int
		want bool // for good
	}{
		"no such mailbox":      {To, 550, true},
		"no syntax":            {To, 501, true},
		"greylisted":           {To, 451, false},
		"too many at once":     {To, 452, false},
		"a login is wanted":    {To, 530, false},
		"the sender":           {From, 553, false},
		"the sender, for now":  {From, 421, false},
		"the message":          {End, 554, true},
		"the message, for now": {End, 451, false},
	} {
		t.Run(name, func(t *testing.T) {
			said := &smtp.SMTPError{Code: test.code, EnhancedCode: smtp.EnhancedCode{test.code / 100, 1, 1}, Message: "no one@example.is here"}
			b := &inbox{}
			*map[Step]**smtp.SMTPError{From: &b.refuseFrom, To: &b.refuseTo, End: &b.refuseData}[test.at] = said
			err := parsed(t, "smtp://"+serve(t, b, nil, false)+"?tls=none", Options{}).Send(t.Context(), message)
			f := new(Failure)
			if !errors.As(err, &f) || f.Step != test.at || f.Code != test.code || f.Enhanced[1:] != ".1.1" || f.Unclear {
				t.Fatalf("%+v", err)
			}
			if errors.Is(err, ErrRefused) != test.want || f.Permanent != test.want || strings.Contains(err.Error(), "one@") {
				t.Error(err)
			}
		})
	}
}

// Addresses beyond ASCII are for servers that take them (RFC 6531), and nobody else is told of any.
func TestAddressesBeyondASCII(t *testing.T) {
	for to, beyond := range map[string]bool{"þóra@example.is": true, "Þóra <thora@example.is>": false} {
		b, m := &inbox{}, message
		m.To = []string{to}
		if err := parsed(t, "smtp://"+serve(t, b, nil, false)+"?tls=none", Options{}).Send(t.Context(), m); err != nil || b.utf8 != beyond {
			t.Errorf("%s: %v, announced %v", to, err, b.utf8)
		}
	}
	script := scripted(t, nil)
	m := message
	m.To = []string{"þóra@example.is"}
	if err := parsed(t, script.address, Options{}).Send(t.Context(), m); !errors.Is(err, ErrRefused) || script.taken() > 0 {
		t.Errorf("a server of ASCII: %v", err)
	}
}

// The server is greeted by the name that is said, or the sender's domain.
func TestName(t *testing.T) {
	for said, want := range map[string]string{"": "example.is", "mta.example.is": "mta.example.is"} {
		script := scripted(t, nil)
		if err := parsed(t, script.address, Options{Name: said}).Send(t.Context(), message); err != nil || script.heard()[0] != "EHLO "+want {
			t.Errorf("%s: %v, %v", cmp.Or(said, "nothing"), err, script.heard())
		}
	}
}
