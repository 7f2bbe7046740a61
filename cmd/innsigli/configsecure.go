package main

import "net/url"

// secureURL reads the URL of a service that secrets or kennitalas are sent to. It does not
// repeat what it refuses: somebody may have put a password into it.
func (s section) secureURL(name string) string {
	text := s.text(name)
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		s.fault(name, "is no https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		s.fault(name, "is more than host, port and path")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		s.fault(name, "is not https, and not on this machine")
	}
	return text
}
