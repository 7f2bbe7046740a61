package main

import (
	"crypto/tls"
	"encoding/asn1"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades/online"
)

// timestampAuthority is one [[timestamp]] of a configuration.
type timestampAuthority struct {
	tsa      *online.TSA
	identity identity
}

// identity is what a client of an authority authenticates by in TLS, in PEM. A client whose
// identity did not change is kept, with its connections.
type identity struct{ certificate, key string }

// readAuthority reads a [[timestamp]] after the section on trust: roots of its own have to be
// among the trusted ones.
func (c configuration) readAuthority(t section, files configFiles) timestampAuthority {
	t.together("username", "password-file")
	t.together("certificate", "key")
	tsa := &online.TSA{
		URL:           readURL(t),
		Username:      t.text("username"),
		Password:      readNamed(t, "password-file", files.secret),
		Timeout:       readTimeout(t),
		Policy:        readOID(t, "policy"),
		Intermediates: c.intermediates,
	}
	who := identity{readNamed(t, "certificate", files.pem), readNamed(t, "key", files.pem)}
	if who.certificate != "" && who.key != "" {
		tsa.Client = who.client(t, tsa.URL)
	}
	roots := files.certificates(t, "roots")
	if !trusts(c.roots, roots) {
		t.fault("roots", "a certificate is not among trust.roots") // and validators ask for nothing else
	}
	if len(roots) > 0 {
		tsa.Roots = poolOf(roots)
	}
	t.end()
	return timestampAuthority{tsa, who}
}

// readURL does not repeat what it refuses: somebody may have put a password into it.
func readURL(t section) string {
	if !t.has("url") {
		t.fault("url", "is missing")
		return ""
	}
	text := t.text("url")
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		t.fault("url", "is no http or https URL")
	case u.User != nil:
		t.fault("url", "has a user in it; username and password-file are for that")
	}
	return text
}

// readNamed returns what read finds in the file that a key names, if it names one.
func readNamed(t section, name string, read func(string) (string, error)) string {
	path := t.text(name)
	if path == "" {
		return ""
	}
	content, err := read(path)
	if err != nil {
		t.fault(name, "%v", err)
	}
	return content
}

// maxTimestampTimeout keeps an authority that does not answer from holding up for long
// what the next one would give.
const maxTimestampTimeout = time.Minute

func readTimeout(t section) time.Duration {
	text := t.text("timeout")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > maxTimestampTimeout {
		t.fault("timeout", "%q is no time of up to a minute, such as 10s", text)
	}
	return d
}

// readOID reads an object identifier in dots (X.660), if there is one.
func readOID(t section, name string) (oid asn1.ObjectIdentifier) {
	text := t.text(name)
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
		t.fault(name, "%q is no object identifier, such as 1.2.3.4", text)
	}
	return oid
}

// client authenticates by a certificate, which only TLS has a place for.
func (i identity) client(t section, address string) *http.Client {
	pair, err := tls.X509KeyPair([]byte(i.certificate), []byte(i.key))
	if err != nil {
		t.fault("certificate", "cannot be used with key: %v", err)
	}
	if !strings.HasPrefix(address, "https:") {
		t.fault("certificate", "is for https URLs")
	}
	return &http.Client{Transport: &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		TLSClientConfig:   &tls.Config{Certificates: []tls.Certificate{pair}},
		ForceAttemptHTTP2: true,
		IdleConnTimeout:   time.Minute,
	}}
}
