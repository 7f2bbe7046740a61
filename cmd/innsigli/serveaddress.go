package main

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// base is what paths come after.
func (c serverFlags) base() string { return strings.TrimSuffix(c.BaseURL, "/") }

// checkBaseURL: tokens and documents go there, so others may not read along.
func (c serverFlags) checkBaseURL(found *faults) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		found.add("--base-url", "%q is no http or https URL of a server", c.BaseURL)
		return
	}
	if loopback(u.Hostname()) {
		return
	}
	if c.production() && u.Scheme == "http" {
		found.add("--base-url", "is not https, and not on this machine")
	}
	if c.Simulated {
		found.add("--insecure-simulated-idp", "is for a --base-url on this machine, such as http://localhost:8080")
	}
	if c.production() && c.PrivateWebhooks {
		found.add("--insecure-allow-private-webhooks", "is in production for a --base-url on this machine, such as http://localhost:8080")
	}
}

// address is where the server listens: in a trial on this machine alone, since whoever reaches it is whoever
// they say they are.
func (c serverFlags) address() (string, error) {
	if !c.Simulated {
		return c.Listen, nil
	}
	return orLoopback(c.Listen)
}

func (c serverFlags) checkListen(found *faults) {
	address, err := c.address()
	if err == nil {
		address, err = hostBeforePort(address)
	}
	switch {
	case err != nil:
		found.add("--listen", "%q is no address with a port", c.Listen)
	case c.Simulated && !loopback(address):
		found.add("--listen", "is not on this machine, as --insecure-simulated-idp needs it: such as 127.0.0.1:8080")
	}
}

// hostBeforePort is the host of an address to listen at, whose port is one.
func hostBeforePort(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil && port == "" {
		err = errors.New("no port")
	}
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return host, err
}

// inTheClear says that others than this machine can speak to the server without TLS, and that nothing in the
// configuration tells why. That is no fault: who ends TLS, and where, the server cannot always see.
func (c serverFlags) inTheClear(conf configuration) bool {
	host, _, err := net.SplitHostPort(c.Listen)
	return c.production() && !c.Simulated && err == nil && !loopback(host) && conf.tls == nil && len(conf.proxies.trusted) == 0
}

// unknownProxy says that callers come through a proxy that nobody has named.
func (c serverFlags) unknownProxy(conf configuration) bool {
	return c.production() && strings.HasPrefix(c.BaseURL, "https:") && conf.tls == nil && len(conf.proxies.trusted) == 0
}

// onThisMachine refuses what was sent to another name than one of this machine's own. A stranger's page whose
// name leads here for a while could read along in the browser of who tries the server, and a proxy would let
// anybody in.
func onThisMachine(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := (&url.URL{Host: r.Host}); !loopback(to.Hostname()) {
			http.Error(w, "This server is for trials on its own machine.", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
