package mail

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options configure a [Transport]. Sender.From is mandatory.
type Options struct {
	Sender
	TLS            TLS            // "": that of the address, or else StartTLS
	Authentication Authentication // "": that of the address, or else Auto
	User, Password string         // "": those of the address
	Name           string         // the client's name in EHLO (RFC 5321 4.1.1.1); "": the domain of From
	Timeout        time.Duration  // for a message, connecting included; 0: one minute
	Roots          *x509.CertPool // for the server's certificate; nil: those of the system

	// Trace is called with each line of the SMTP session, without secrets and without the message, or with the path
	// of a message in a folder. It may be nil.
	Trace func(line string)
}

// TLS is the protection of a connection.
type TLS string

const (
	StartTLS      TLS = "starttls"      // STARTTLS is required (RFC 3207)
	Implicit      TLS = "implicit"      // TLS from the start (RFC 8314)
	Opportunistic TLS = "opportunistic" // STARTTLS if the server offers it, with any certificate (RFC 7435)
	NoTLS         TLS = "none"
)

// TLSModes lists all values of TLS.
var TLSModes = []TLS{StartTLS, Implicit, Opportunistic, NoTLS}

// isSecure reports whether the connection is encrypted and the server authenticated.
func (t TLS) isSecure() bool { return t == StartTLS || t == Implicit }

// port returns the default port (RFC 6409 and RFC 8314).
func (t TLS) port() int {
	switch t {
	case Implicit:
		return 465
	case StartTLS:
		return 587
	}
	return 25
}

// Authentication is an authentication mechanism (RFC 4954).
type Authentication string

const (
	Auto        Authentication = "auto" // the best mechanism that the server offers
	ScramSHA256 Authentication = "scram-sha-256"
	ScramSHA1   Authentication = "scram-sha-1"
	Plain       Authentication = "plain"
	Login       Authentication = "login"
	CramMD5     Authentication = "cram-md5"
	NoAuth      Authentication = "none"
)

// Authentications lists all values of Authentication.
var Authentications = []Authentication{Auto, ScramSHA256, ScramSHA1, Plain, Login, CramMD5, NoAuth}

// The default and the limits of Options.Timeout.
const (
	defaultTimeout = time.Minute
	MinTimeout     = time.Second
	MaxTimeout     = 90 * time.Second
)

// OptionError is a fault of an option or of the address. It does not repeat the value, which may contain a password.
type OptionError struct {
	Field   string // "address", "tls", "authentication", "username", "password", "hello-name" or "timeout"
	Problem string
}

func (e *OptionError) Error() string { return "mail: " + e.Field + ": " + e.Problem }

func fault(field, format string, args ...any) error {
	return &OptionError{field, fmt.Sprintf(format, args...)}
}

// check checks options into which those of the address are merged.
func (o Options) check(host string) error {
	switch {
	case !slices.Contains(TLSModes, o.TLS):
		return fault("tls", "must be one of %s", joined(TLSModes))
	case !slices.Contains(Authentications, o.Authentication):
		return fault("authentication", "must be one of %s", joined(Authentications))
	case o.Timeout < MinTimeout || o.Timeout > MaxTimeout:
		return fault("timeout", "must be between %v and %v", MinTimeout, MaxTimeout)
	case !isHelloName(o.Name):
		return fault("hello-name", "must be a host name, such as sign.example.is")
	}
	return o.checkLogin(host)
}

// checkLogin checks user, password and mechanism, and that a password is not sent without TLS to another machine.
func (o Options) checkLogin(host string) error {
	switch {
	case o.User == "" && o.Password != "":
		return fault("username", "is missing, but there is a password")
	case o.User == "" && o.Authentication != Auto && o.Authentication != NoAuth:
		return fault("username", "is missing, but authentication is %s", o.Authentication)
	case o.User != "" && o.Authentication == NoAuth:
		return fault("authentication", "is none, but there is a user: remove one of them")
	case o.User != "" && o.Password == "":
		return fault("password", "is missing, but there is a user")
	case o.User != "" && !o.TLS.isSecure() && !isLoopback(host):
		return fault("tls", "is %s: a password is sent without TLS only to a server on this machine", o.TLS)
	}
	return nil
}

// isHelloName reports whether a name can be that of a host, or an address in brackets (RFC 5321 4.1.3).
func isHelloName(name string) bool {
	outside := func(r rune) bool {
		return r > 0x7f || !strings.ContainsRune("-.:[]", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, outside)
}

// isLoopback reports whether a host is the local machine, by its name or address.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// joined returns the values, separated by commas.
func joined[T ~string](values []T) string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return strings.Join(all, ", ")
}

// Forms describes the addresses that Parse accepts.
const Forms = "smtp://[USER:PASSWORD@]HOST[:PORT][?tls=…&auth=…], smtps://… or dir:PATH"

// Parse returns the Transport of an address: a server with STARTTLS (smtp, port 587), with TLS from the start (smtps,
// port 465) or with the protection of the parameter tls; or a folder, in which each message becomes a file that ends in
// .eml. The parameters tls and auth have the values of [Options], which must not differ from them. The error is an
// *[OptionError], or one of the sender.
func Parse(address string, o Options) (Transport, error) {
	s, err := o.Sender.parse()
	if err != nil {
		return nil, err
	}
	if path, ok := strings.CutPrefix(address, "dir:"); ok && path != "" {
		return folder{path, s, o.traceFunc()}, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Path != "" || u.Fragment != "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, fault("address", "must have the form %s", Forms)
	}
	if err := o.merge(u); err != nil {
		return nil, err
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	if o.Name == "" {
		if o.Name = s.domain(); !isHelloName(o.Name) { // the domain is not ASCII
			o.Name = "localhost"
		}
	}
	if err := o.check(u.Hostname()); err != nil {
		return nil, err
	}
	port := o.TLS.port()
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
			return nil, fault("address", "must have a port between 1 and 65535")
		}
	}
	return server{u.Hostname(), port, s, o}, nil
}

// merge adds the settings of an address to the options. A setting that differs in both is an error, since the operator
// could not know which one is used.
func (o *Options) merge(u *url.URL) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fault("address", "must have the form %s", Forms)
	}
	for name, values := range query {
		if !slices.Contains([]string{"tls", "auth"}, name) || len(values) != 1 || values[0] == "" {
			return fault("address", "must have the form %s", Forms)
		}
	}
	mode := TLS(query.Get("tls"))
	if u.Scheme == "smtps" {
		if mode != "" && mode != Implicit {
			return fault("address", "has the scheme smtps and another tls: remove tls")
		}
		mode = Implicit
	}
	password, _ := u.User.Password()
	for _, err := range []error{
		mergeOption("tls", &o.TLS, mode),
		mergeOption("authentication", &o.Authentication, Authentication(query.Get("auth"))),
		mergeOption("username", &o.User, u.User.Username()),
		mergeOption("password", &o.Password, password),
	} {
		if err != nil {
			return err
		}
	}
	o.TLS, o.Authentication = cmp.Or(o.TLS, StartTLS), cmp.Or(o.Authentication, Auto)
	return nil
}

// mergeOption sets an option to the value of the address, if the address has one.
func mergeOption[T ~string](field string, option *T, value T) error {
	if value == "" {
		return nil
	}
	if *option != "" && *option != value {
		return fault(field, "is also in the address of the server (--mail), with another value: remove one of them")
	}
	*option = value
	return nil
}

// traceFunc returns Options.Trace, or a function that does nothing.
func (o Options) traceFunc() func(string) {
	if o.Trace == nil {
		return func(string) {}
	}
	return o.Trace
}
