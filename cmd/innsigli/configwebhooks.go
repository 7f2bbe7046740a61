package main

import "net/url"

// webhookSettings are the [webhooks] of a configuration.
type webhookSettings struct {
	proxy            url.URL // that all requests go through; zero: none
	maxSubscriptions int     // of an account; 0: the default
}

// mostSubscriptions bounds what is read at once: an account's are read all together, for each of
// its events and for a list of them, which has no pages.
const mostSubscriptions = 10_000

func readWebhooks(t section) webhookSettings {
	w := webhookSettings{
		proxy:            readProxy(t, "egress-proxy"),
		maxSubscriptions: t.number("max-subscriptions", 1, mostSubscriptions),
	}
	t.end()
	return w
}

// readProxy reads the URL of a proxy, which has no user: two of them are compared. It does not
// repeat what it refuses: somebody may have put a password into it.
func readProxy(t section, name string) url.URL {
	text := t.text(name)
	if text == "" {
		return url.URL{}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		t.fault(name, "is no http or https URL")
		return url.URL{}
	case u.User != nil, u.RawQuery != "", u.Fragment != "", u.Path != "" && u.Path != "/":
		t.fault(name, "is more than host and port")
	}
	return *u
}
