package config

import (
	"bytes"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/storage"
)

// Limits is [limits].
type Limits struct {
	ClientRate            *int64   `toml:"client-rate"`
	ClientBurst           *int64   `toml:"client-burst"`
	AddressRate           *int64   `toml:"address-rate"`
	AddressBurst          *int64   `toml:"address-burst"`
	Body                  *int64   `toml:"body"`
	Documents             *int64   `toml:"documents"`
	Connections           *int64   `toml:"connections"`
	ConnectionsPerAddress *int64   `toml:"connections-per-address"`
	SlowAfter             duration `toml:"slow-after"`
	LeastRate             *int64   `toml:"least-rate"`
}

const (
	maxRate        = 100_000
	maxConnections = 1_000_000
	minSlowAfter   = time.Second
	minLeastRate   = 1    // bytes a second
	maxBody        = 1024 // MiB
	bodies         = 4    // of the longest fit into documents at once; an account has half of that
	mebibyte       = 1 << 20
)

func (l Limits) read(s section) server.Limits {
	out := server.Limits{
		Client:                s.rate("client", l.ClientRate, l.ClientBurst, server.DefaultLimits.Client),
		Address:               s.rate("address", l.AddressRate, l.AddressBurst, server.DefaultLimits.Address),
		Body:                  s.number("body", l.Body, 1, maxBody) * mebibyte,
		Documents:             s.number("documents", l.Documents, 128, 1<<20) * mebibyte,
		Connections:           int(s.number("connections", l.Connections, 1, maxConnections)),
		ConnectionsPerAddress: int(s.number("connections-per-address", l.ConnectionsPerAddress, 1, maxConnections)),
		SlowAfter:             time.Duration(l.SlowAfter),
		LeastRate:             s.number("least-rate", l.LeastRate, minLeastRate, 1<<30),
	}
	if l.SlowAfter > 0 && out.SlowAfter < minSlowAfter {
		s.fault("slow-after", "is less than %v", minSlowAfter)
	}
	body, documents := out.Body, out.Documents
	if body == 0 {
		body = server.DefaultLimits.Body
	}
	if documents == 0 {
		documents = server.DefaultLimits.Documents
	}
	if body > documents/bodies {
		s.fault("body", "%d MiB are more than a quarter of documents, %d MiB", body/mebibyte, documents/mebibyte)
	}
	return out
}

// rate reads a rate a second and a burst over their default; a rate of 0 is no limit.
func (s section) rate(of string, rate, burst *int64, r storage.Rate) storage.Rate {
	if rate != nil {
		r.PerSecond = int(s.number(of+"-rate", rate, 0, maxRate))
		r.Burst = max(r.Burst, r.PerSecond)
	}
	if burst != nil {
		r.Burst = int(s.number(of+"-burst", burst, 1, maxRate))
	}
	if r.PerSecond == 0 {
		return server.Unlimited
	}
	return r
}

// Proxy is [proxy]: who passes requests on to the server, and is believed when it says who they are from.
type Proxy struct {
	Trusted []string `toml:"trusted"`
	Header  string   `toml:"header"`
}

func (p *Proxy) read(s section) (out server.Proxies) {
	if p == nil {
		return out
	}
	for i, text := range p.Trusted {
		prefix, err := netip.ParsePrefix(text)
		if address, notPrefix := netip.ParseAddr(text); notPrefix == nil && address.Zone() == "" {
			address = address.Unmap()
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err != nil || prefix != prefix.Masked():
			s.fault(indexed("trusted", i), "%q is no address, nor a prefix such as 10.0.0.0/8", text)
		case prefix.Addr().Is4In6():
			s.fault(indexed("trusted", i), "%q is of IPv4, whose prefixes are such as 10.0.0.0/8", text)
		case prefix.Bits() == 0:
			s.fault(indexed("trusted", i), "%q is everybody, who could then say to be anybody", text)
		}
		out.Trusted = append(out.Trusted, prefix)
	}
	if len(p.Trusted) == 0 && !s.found.about("proxy.trusted") {
		s.fault("trusted", "has no address, and without one nobody is believed")
	}
	s.oneOf("header", p.Header, "X-Forwarded-For", "Forwarded")
	out.Header = p.Header
	return out
}

// Webhooks is [webhooks].
type Webhooks struct {
	EgressProxy      string `toml:"egress-proxy"`
	MaxSubscriptions *int64 `toml:"max-subscriptions"`
}

// mostSubscriptions bounds what is read at once: an account's are read all together, for each of
// its events and for a list of them, which has no pages.
const mostSubscriptions = 10_000

func (w Webhooks) read(s section) server.Webhooks {
	out := server.Webhooks{MaxSubscriptions: int(s.number("max-subscriptions", w.MaxSubscriptions, 1, mostSubscriptions))}
	if w.EgressProxy == "" {
		return out
	}
	u, err := url.Parse(w.EgressProxy)
	switch { // which do not repeat the URL: it may have a password in it
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		s.fault("egress-proxy", "is no http or https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "", u.Path != "" && u.Path != "/":
		s.fault("egress-proxy", "is more than host and port")
	default:
		out.Proxy = u
	}
	return out
}

// Page is [page]: the name and the looks of the signing page.
type Page struct {
	Name    string `toml:"name"`
	Logo    string `toml:"logo"`
	Colour  string `toml:"colour"`
	Contact string `toml:"contact"`

	logo []byte // content of the file
}

// maxLogo is more than a page takes, and is what of a file is read.
const maxLogo = 64 << 10

func (p *Page) read(s section) page.Operator {
	if p.Logo != "" {
		content, err := s.files.read(p.Logo, maxLogo)
		if err != nil {
			s.fault("logo", "%v", withName(err, p.Logo))
		} else {
			p.logo = bytes.Clone(content)
		}
	}
	o := page.Operator{Name: p.Name, Logo: p.logo, Colour: p.Colour, Contact: p.Contact}
	name, logo, colour, contact := o.Check()
	for _, judged := range []struct {
		key string
		err error
	}{{"name", name}, {"logo", logo}, {"colour", colour}, {"contact", contact}} {
		if judged.err != nil {
			s.fault(judged.key, "%v", judged.err)
		}
	}
	return o
}

// Retention is [retention]: how long what has served its purpose is remembered (spec 7.2).
type Retention struct {
	EndedRequests    period `toml:"ended-requests"`
	IdempotencyKeys  period `toml:"idempotency-keys"`
	DeliveryAttempts period `toml:"delivery-attempts"`
	Evidence         period `toml:"evidence"`
	Processes        period `toml:"processes"`
}

func (r Retention) read() server.Retention {
	return server.Retention{
		EndedRequests:    server.Period(r.EndedRequests),
		IdempotencyKeys:  server.Period(r.IdempotencyKeys),
		DeliveryAttempts: server.Period(r.DeliveryAttempts),
		Evidence:         server.Period(r.Evidence),
		Processes:        server.Period(r.Processes),
	}
}

// period is a length of time such as "10y", "90d" or "24h". Zero: the key is not there.
type period server.Period

const (
	// A request lives for less than an hour, and nothing is to be forgotten before its end.
	minPeriod = time.Hour
	maxYears  = 100
	day       = 24 * time.Hour
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *period) UnmarshalText(text []byte) error {
	ok := false
	if years, rest, inYears := strings.Cut(string(text), "y"); inYears {
		p.Years, ok = parseCount(years, maxYears)
		ok = ok && p.Years > 0 && rest == ""
	} else {
		p.Rest, ok = parseSpan(string(text))
		ok = ok && p.Rest >= minPeriod && p.Rest <= maxYears*365*day
	}
	if !ok {
		*p = period{}
		return fmt.Errorf("%q is no time of 1h to %dy, such as 24h, 90d or 10y", text, maxYears)
	}
	return nil
}

// Span is a length of time that a flag takes, such as "7d" or "36h".
type Span time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Span) UnmarshalText(text []byte) error {
	d, ok := parseSpan(string(text))
	if !ok {
		return fmt.Errorf("%q is no time such as 36h or 7d", text)
	}
	*s = Span(d)
	return nil
}

// parseSpan reads days, or a time as [time.ParseDuration] does, which knows none.
func parseSpan(text string) (time.Duration, bool) {
	if days, rest, inDays := strings.Cut(text, "d"); inDays {
		n, ok := parseCount(days, maxYears*365)
		return time.Duration(n) * day, ok && rest == ""
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// parseCount reads a whole number up to a limit, in digits alone.
func parseCount(text string, limit int) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil && int(n) <= limit
}
