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

// Trust is [trust].
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
			s.fault(indexed("private-addresses", i), "%q is no prefix such as 10.0.0.0/8", text)
		}
		f.PrivateAddresses = append(f.PrivateAddresses, prefix)
	}
}

// Timestamp is a [[timestamp]].
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

// authority is what is made of a Timestamp.
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

// identity is what a client of an authority authenticates by in TLS, in PEM. A client whose
// identity did not change is kept, with its connections.
type identity struct{ certificate, key string }

// timestampRoots are the roots of timestamp authorities, and the key that they stand under.
func (f File) timestampRoots() (roots []*x509.Certificate, key string) {
	if len(f.TimestampRoots) > 0 {
		return f.TimestampRoots, "trust.timestamp-roots"
	}
	return f.Roots, "trust.roots"
}

// readAuthority reads a Timestamp after the section on trust: roots of its own have to be
// among the trusted ones.
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
	switch { // which do not repeat the URL: it may have a password in it
	case t.URL == "":
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		s.fault("url", "is no http or https URL")
	case u.User != nil:
		s.fault("url", "has a user in it; username and password-file are for that")
	}
	who := identity{s.named("certificate", t.Certificate, s.files.pem), s.named("key", t.Key, s.files.pem)}
	if who.certificate != "" && who.key != "" {
		tsa.Client = who.client(s, tsa.URL)
	}
	roots := s.certificates("roots", t.Roots)
	trusted, key := f.timestampRoots()
	if slices.ContainsFunc(roots, func(c *x509.Certificate) bool { return !slices.ContainsFunc(trusted, c.Equal) }) {
		s.fault("roots", "a certificate is not among %s", key) // and validators ask for nothing else
	}
	if len(roots) > 0 {
		tsa.Roots = poolOf(roots)
	}
	return authority{tsa, who}
}

// objectIdentifier reads an object identifier in dots (X.660), if there is one.
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
	if _, err := asn1.Marshal(oid); err != nil { // which knows the first arcs
		s.fault(key, "%q is no object identifier, such as 1.2.3.4", text)
	}
	return oid
}

// client authenticates by a certificate in TLS.
func (i identity) client(s section, address string) *http.Client {
	pair, err := tls.X509KeyPair([]byte(i.certificate), []byte(i.key))
	if err != nil {
		s.fault("certificate", "cannot be used with key: %v", err)
	}
	if !strings.HasPrefix(address, "https:") {
		s.fault("certificate", "is for https URLs")
	}
	return &http.Client{Transport: &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		TLSClientConfig:   &tls.Config{Certificates: []tls.Certificate{pair}},
		ForceAttemptHTTP2: true,
		IdleConnTimeout:   time.Minute,
	}}
}

// liveSources are the sources of the file that is in force, which may be replaced while they are used.
type liveSources struct {
	current atomic.Pointer[sources]
}

// sources are made of a file.
type sources struct {
	file       File
	time       online.InOrder
	revocation *online.Revocation
	issuers    *online.Issuers
	pool       *ades.Pool
	roots      *x509.CertPool
	timestamps *x509.CertPool // roots of timestamp authorities; nil: roots
}

// Sources returns those of now, for a server's configuration.
func (l *liveSources) Sources() ades.Sources {
	s := l.current.Load()
	all := ades.Sources{Roots: s.roots, TimestampRoots: s.timestamps, Revocation: s.revocation, Issuers: ades.IssuersInOrder{s.pool, s.issuers}}
	if len(s.time) > 0 {
		all.Time = s.time
	}
	return all
}

// take puts a file in force. Clients are kept, with their caches and connections,
// where nothing that they are made of has changed. It is called by one goroutine at a time.
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
		next.revocation, next.issuers = &online.Revocation{Client: client}, &online.Issuers{Client: client}
	}
	for _, a := range f.authorities {
		a.tsa.Client = before.client(a)
		if a.tsa.Roots == nil { // so that the next one is asked when a token would be of no use
			a.tsa.Roots = cmp.Or(next.timestamps, next.roots)
		}
		next.time = append(next.time, a.tsa)
	}
	l.current.Store(next)
}

// client is that of an authority with the same identity, or the new one.
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
