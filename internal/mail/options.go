package mail

import (
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Options say who messages are from and how a server is spoken to. The zero value of all but Sender is
// what its comment says.
type Options struct {
	Sender
	TLS            TLS            // "": as the address says, else StartTLS
	Authentication Authentication // "": as the address says, else the best that the server offers
	User, Password string         // in place of those of the address; "": those
	Name           string         // that the server is greeted by (RFC 5321 4.1.1.1); "": the domain of From
	Timeout        time.Duration  // of a message, from the connection on; 0: one minute
	Roots          *x509.CertPool // of the server's certificate; nil: the system's

	// Told is told what is said on both sides, without secrets and without the message, or where a folder
	// keeps one. nil: nobody is told.
	Told func(line string)
}

// TLS is how a connection is protected.
type TLS string

const (
	StartTLS      TLS = "starttls"      // required before anything is said (RFC 3207)
	Implicit      TLS = "implicit"      // from the beginning (RFC 8314)
	Opportunistic TLS = "opportunistic" // STARTTLS where it is offered, with any certificate (RFC 7435)
	NoTLS         TLS = "none"
)

// Protections are all values of TLS.
var Protections = []TLS{StartTLS, Implicit, Opportunistic, NoTLS}

// protects says whether nobody else can read or answer on the connection.
func (t TLS) protects() bool { return t == StartTLS || t == Implicit }

// port is the usual one (RFC 6409 and RFC 8314).
func (t TLS) port() int {
	switch t {
	case Implicit:
		return 465
	case StartTLS:
		return 587
	}
	return 25
}

// Authentication is how a user proves to be one (RFC 4954).
type Authentication string

const (
	Auto        Authentication = "auto" // the first of the following that the server offers
	ScramSHA256 Authentication = "scram-sha-256"
	ScramSHA1   Authentication = "scram-sha-1"
	Plain       Authentication = "plain"
	Login       Authentication = "login"
	CramMD5     Authentication = "cram-md5"
	Nothing     Authentication = "none"
)

// Authentications are all values of Authentication.
var Authentications = []Authentication{Auto, ScramSHA256, ScramSHA1, Plain, Login, CramMD5, Nothing}

// The limits of a Timeout.
const (
	defaultTimeout = time.Minute
	MinTimeout     = time.Second
	MaxTimeout     = 90 * time.Second
)

// Fault is what is wrong with one of the Options, or with the address. What is wrong is not repeated:
// it may have a password in it.
type Fault struct {
	Field string // "address", "tls", "authentication", "username", "password", "hello-name" or "timeout"
	Says  string
}

func (f *Fault) Error() string { return "mail: " + f.Field + ": " + f.Says }

func fault(field, format string, args ...any) error {
	return &Fault{field, fmt.Sprintf(format, args...)}
}

// check finds what cannot be said of any server, o being what an address says and the options together.
func (o Options) check(host string) error {
	switch {
	case !slices.Contains(Protections, o.TLS):
		return fault("tls", "is none of %s", listed(Protections))
	case !slices.Contains(Authentications, o.Authentication):
		return fault("authentication", "is none of %s", listed(Authentications))
	case o.Timeout < MinTimeout || o.Timeout > MaxTimeout:
		return fault("timeout", "is not between %v and %v", MinTimeout, MaxTimeout)
	case !greets(o.Name):
		return fault("hello-name", "is no name of a host, such as sign.example.is")
	}
	return o.checkLogin(host)
}

// checkLogin: a password is for those to read whom it is sent to.
func (o Options) checkLogin(host string) error {
	switch {
	case o.User == "" && o.Password != "":
		return fault("username", "is missing, and there is a password")
	case o.User == "" && o.Authentication != Auto && o.Authentication != Nothing:
		return fault("username", "is missing, and authentication is %s", o.Authentication)
	case o.User != "" && o.Authentication == Nothing:
		return fault("authentication", "is none, and there is a user")
	case o.User != "" && o.Password == "":
		return fault("password", "is missing, and there is a user")
	case o.User != "" && !o.TLS.protects() && !loopback(host):
		return fault("tls", "is %s, and a password is not sent without TLS, but to this machine", o.TLS)
	}
	return nil
}

// greets says whether a name can be one of a host, or an address in brackets (RFC 5321 4.1.3).
func greets(name string) bool {
	outside := func(r rune) bool {
		return r > 0x7f || !strings.ContainsRune("-.:[]", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}
	return name != "" && len(name) <= 255 && !strings.ContainsFunc(name, outside)
}

// loopback says whether a host is this machine, by its name or address.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func listed[T ~string](values []T) string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return strings.Join(all, ", ")
}
