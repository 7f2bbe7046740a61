package config

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
)

// Trust is the section [trust].
type Trust struct {
	Roots            []string `toml:"roots"`
	TimestampRoots   []string `toml:"timestamp-roots"`
	Intermediates    []string `toml:"intermediates"`
	PrivateAddresses []string `toml:"private-addresses"`
}

func (f *File) readTrust(s section) {
	f.Roots = s.certificates("roots", f.Trust.Roots)
	f.TimestampRoots = s.certificates("timestamp-roots", f.Trust.TimestampRoots)
	f.Intermediates = s.certificates("intermediates", f.Trust.Intermediates)
	for i, text := range f.Trust.PrivateAddresses {
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix != prefix.Masked() {
			s.fault(indexed("private-addresses", i), "%q is not a prefix such as 10.0.0.0/8", text)
		}
		f.PrivateAddresses = append(f.PrivateAddresses, prefix)
	}
}

// Timestamp is one section [[timestamp]].
type Timestamp struct {
	URL          string   `toml:"url"`
	Username     string   `toml:"username"`
	PasswordFile string   `toml:"password-file"`
	Timeout      timeout  `toml:"timeout"`
	Policy       string   `toml:"policy"`
	Certificate  string   `toml:"certificate"`
	Key          string   `toml:"key"`
	Roots        []string `toml:"roots"`
}

// authority has the values that were read from a Timestamp.
type authority struct {
	tsa      *online.TSA
	identity identity
}

// TSAs returns the clients of the timestamp authorities, in their order.
func (f File) TSAs() (all []*online.TSA) {
	for _, a := range f.authorities {
		all = append(all, a.tsa)
	}
	return all
}

// identity is the TLS client certificate and key for an authority, in PEM. A reload keeps the HTTP client, with its
// connections, if the identity has not changed.
type identity struct{ certificate, key string }

// timestampRoots returns the roots of timestamp authorities, and the key that sets them.
func (f File) timestampRoots() (roots []*x509.Certificate, key string) {
	if len(f.TimestampRoots) > 0 {
		return f.TimestampRoots, "trust.timestamp-roots"
	}
	return f.Roots, "trust.roots"
}

// readAuthority reads a Timestamp. [trust] must have been read: the roots of an authority must be among the trusted ones.
func (f *File) readAuthority(s section, t Timestamp) authority {
	s.together("username", t.Username, "password-file", t.PasswordFile)
	s.together("certificate", t.Certificate, "key", t.Key)
	s.required("url", t.URL)
	tsa := &online.TSA{
		URL:           t.URL,
		Username:      t.Username,
		Password:      s.named("password-file", t.PasswordFile, s.files.secret),
		Timeout:       time.Duration(t.Timeout),
		Policy:        s.objectIdentifier("policy", t.Policy),
		Intermediates: f.Intermediates,
	}
	u, err := url.Parse(t.URL)
	switch { // the faults do not repeat the URL: it may have a password in it
	case t.URL == "":
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		s.fault("url", "must be an http or https URL")
	case u.User != nil:
		s.fault("url", "must not contain a user: use username and password-file")
	}
	id := identity{s.named("certificate", t.Certificate, s.files.pem), s.named("key", t.Key, s.files.pem)}
	if id.certificate != "" && id.key != "" {
		tsa.Client = id.client(s, tsa.URL)
	}
	roots := s.certificates("roots", t.Roots)
	trusted, key := f.timestampRoots()
	if slices.ContainsFunc(roots, func(c *x509.Certificate) bool { return !slices.ContainsFunc(trusted, c.Equal) }) {
		s.fault("roots", "contains a certificate that is not in %s: add it there too", key) // validators trust only those
	}
	if len(roots) > 0 {
		tsa.Roots = poolOf(roots)
	}
	return authority{tsa, id}
}

// objectIdentifier parses an object identifier in dot notation (X.660); nil for an empty text.
func (s section) objectIdentifier(key, text string) (oid asn1.ObjectIdentifier) {
	if text == "" {
		return nil
	}
	for arc := range strings.SplitSeq(text, ".") {
		n, err := strconv.ParseUint(arc, 10, 31)
		if err != nil {
			oid = nil
			break
		}
		oid = append(oid, int(n))
	}
	if _, err := asn1.Marshal(oid); err != nil { // it checks the first two arcs
		s.fault(key, "%q is not an object identifier such as 1.2.3.4", text)
	}
	return oid
}

// client returns an HTTP client that authenticates with the certificate in TLS.
func (i identity) client(s section, address string) *http.Client {
	pair, err := tls.X509KeyPair([]byte(i.certificate), []byte(i.key))
	if err != nil {
		s.fault("certificate", "cannot be used with key: %v", err)
	}
	if !strings.HasPrefix(address, "https:") {
		s.fault("certificate", "requires url to be an https URL")
	}
	return &http.Client{Transport: &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		TLSClientConfig:   &tls.Config{Certificates: []tls.Certificate{pair}},
		ForceAttemptHTTP2: true,
		IdleConnTimeout:   time.Minute,
	}}
}

// liveSources has the sources of the configuration that is in force. A reload replaces them while they are used.
type liveSources struct {
	current atomic.Pointer[sources]
	chains  ades.Chains // under the roots of all configurations, each of which has pools of its own
}

// sources are the sources of one configuration file.
type sources struct {
	file       File
	time       online.InOrder
	revocation *online.Revocation
	issuers    *online.Issuers
	pool       *ades.Pool
	roots      *x509.CertPool
	timestamps *x509.CertPool // roots of timestamp authorities; nil: roots
}

// Sources returns the current sources. It is the Sources of a [server.Config].
func (l *liveSources) Sources() ades.Sources {
	s := l.current.Load()
	all := ades.Sources{Roots: s.roots, TimestampRoots: s.timestamps, Chains: &l.chains, Revocation: s.revocation, Issuers: ades.IssuersInOrder{s.pool, s.issuers}}
	if len(s.time) > 0 {
		all.Time = s.time
	}
	return all
}

// take puts a file into force. It keeps clients, with their caches and connections, whose settings have not changed. Only
// one goroutine at a time may call it.
func (l *liveSources) take(f File) {
	next := &sources{file: f, pool: ades.NewPool(f.Intermediates...), roots: poolOf(f.Roots)}
	if len(f.TimestampRoots) > 0 {
		next.timestamps = poolOf(f.TimestampRoots)
	}
	before := l.current.Load()
	if before != nil && slices.Equal(before.file.PrivateAddresses, f.PrivateAddresses) {
		next.revocation, next.issuers = before.revocation, before.issuers
	} else {
		client := online.NewClient(f.PrivateAddresses...)
		next.revocation, next.issuers = &online.Revocation{Client: client, Chains: &l.chains}, &online.Issuers{Client: client}
	}
	for _, a := range f.authorities {
		a.tsa.Client, a.tsa.Chains = before.client(a), &l.chains
		if a.tsa.Roots == nil { // so that the next authority is asked if a token does not lead to a root
			a.tsa.Roots = cmp.Or(next.timestamps, next.roots)
		}
		next.time = append(next.time, a.tsa)
	}
	l.current.Store(next)
}

// client returns the client of a previous authority with the same identity, or else the new client.
func (s *sources) client(a authority) *http.Client {
	if s != nil {
		for _, old := range s.file.authorities {
			if old.identity == a.identity {
				return old.tsa.Client
			}
		}
	}
	return a.tsa.Client
}
