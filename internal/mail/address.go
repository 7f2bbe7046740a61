package mail

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Forms are the forms of what Parse reads.
const Forms = "smtp://[USER:PASSWORD@]HOST[:PORT][?tls=…&auth=…], smtps://… or dir:PATH"

// Parse reads where messages go: a server that is spoken to with STARTTLS (smtp, port 587), with TLS from
// the start (smtps, port 465) or as tls says, or a folder in which each becomes a file that ends in .eml.
// tls and auth are those of [Options], where they can be said as well, but not otherwise. An error is a
// *[Fault], or about the sender.
func Parse(address string, o Options) (Transport, error) {
	s, err := o.Sender.parse()
	if err != nil {
		return nil, err
	}
	if path, ok := strings.CutPrefix(address, "dir:"); ok && path != "" {
		return folder{path, s, o.teller()}, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Path != "" || u.Fragment != "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, fault("address", "not of the form %s", Forms)
	}
	if err := o.merge(u); err != nil {
		return nil, err
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	if o.Name == "" {
		if o.Name = s.domain(); !greets(o.Name) { // a domain beyond ASCII
			o.Name = "localhost"
		}
	}
	if err := o.check(u.Hostname()); err != nil {
		return nil, err
	}
	port := o.TLS.port()
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
			return nil, fault("address", "its port is not between 1 and 65535")
		}
	}
	return server{u.Hostname(), port, s, o}, nil
}

// merge takes over what an address says. What options say otherwise is a fault: an operator would not
// know which of the two is true.
func (o *Options) merge(u *url.URL) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fault("address", "not of the form %s", Forms)
	}
	for name, values := range query {
		if !slices.Contains([]string{"tls", "auth"}, name) || len(values) != 1 || values[0] == "" {
			return fault("address", "not of the form %s", Forms)
		}
	}
	says := TLS(query.Get("tls"))
	if u.Scheme == "smtps" {
		if says != "" && says != Implicit {
			return fault("address", "is smtps, and says tls otherwise")
		}
		says = Implicit
	}
	password, _ := u.User.Password()
	for _, err := range []error{
		agree("tls", &o.TLS, says),
		agree("authentication", &o.Authentication, Authentication(query.Get("auth"))),
		agree("username", &o.User, u.User.Username()),
		agree("password", &o.Password, password),
	} {
		if err != nil {
			return err
		}
	}
	o.TLS, o.Authentication = cmp.Or(o.TLS, StartTLS), cmp.Or(o.Authentication, Auto)
	return nil
}

// agree has a value be what an address says, if it says something.
func agree[T ~string](field string, value *T, says T) error {
	if says == "" {
		return nil
	}
	if *value != "" && *value != says {
		return fault(field, "is not what the address of the server says")
	}
	*value = says
	return nil
}

func (o Options) teller() func(string) {
	if o.Told == nil {
		return func(string) {}
	}
	return o.Told
}
