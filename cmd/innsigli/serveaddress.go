package main

import (
	"net"
	"net/url"
	"strings"
)

// base is what paths come after.
func (c serveCommand) base() string { return strings.TrimSuffix(c.BaseURL, "/") }

// checkBaseURL: tokens and documents go there, so others may not read along.
func (c serveCommand) checkBaseURL(found *faults) {
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

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
