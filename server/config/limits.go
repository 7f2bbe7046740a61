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

// Limits is the section [limits].
type Limits struct {
	ClientRate            *int64   `toml:"client-rate"`
	ClientBurst           *int64   `toml:"client-burst"`
	AddressRate           *int64   `toml:"address-rate"`
	AddressBurst          *int64   `toml:"address-burst"`
	Body                  *int64   `toml:"body"`
	Documents             *int64   `toml:"documents"`
	Connections           *int64   `toml:"connections"`
	ConnectionsPerAddress *int64   `toml:"connections-per-address"`
	PersonPending         *int64   `toml:"person-pending"`
	PersonStarts          *int64   `toml:"person-starts"`
	PersonLogins          *int64   `toml:"person-logins"`
	SlowAfter             duration `toml:"slow-after"`
	LeastRate             *int64   `toml:"least-rate"`
}

const (
	maxRate        = 100_000
	maxConnections = 1_000_000
	minSlowAfter   = time.Second
	minLeastRate   = 1    // bytes a second
	maxPrompts     = 1000 // a record in the store has three times as many
	maxBody        = 1024 // MiB
	bodies         = 4    // bodies of the longest size that must fit into documents; one account may use half of documents
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
		PersonPending:         s.limit("person-pending", l.PersonPending),
		PersonStarts:          s.limit("person-starts", l.PersonStarts),
		PersonLogins:          s.limit("person-logins", l.PersonLogins),
		SlowAfter:             time.Duration(l.SlowAfter),
		LeastRate:             s.number("least-rate", l.LeastRate, minLeastRate, 1<<30),
	}
	if l.SlowAfter > 0 && out.SlowAfter < minSlowAfter {
		s.fault("slow-after", "must be at least %v", minSlowAfter)
	}
	body, documents := out.Body, out.Documents
	if body == 0 {
		body = server.DefaultLimits.Body
	}
	if documents == 0 {
		documents = server.DefaultLimits.Documents
	}
	if body > documents/bodies {
		s.fault("body", "%d MiB must be at most a quarter of documents, %d MiB", body/mebibyte, documents/mebibyte)
	}
	return out
}

// rate returns the rate per second and the burst of two keys, and their default r for those that are not set. A rate of 0
// means no limit.
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

// limit returns the number of a key; 0, the default, if it is not set. The number 0 means no limit.
func (s section) limit(key string, n *int64) int {
	if n != nil && *n == 0 {
		return server.NoLimit
	}
	return int(s.number(key, n, 0, maxPrompts))
}

// Proxy is the section [proxy]: the proxies that forward requests to the server, and whose header with the address of a
// request's client is trusted.
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
			s.fault(indexed("trusted", i), "%q is not an address or a prefix such as 10.0.0.0/8", text)
		case prefix.Addr().Is4In6():
			s.fault(indexed("trusted", i), "%q is an IPv4 prefix in IPv6 form: write it in IPv4 form, such as 10.0.0.0/8", text)
		case prefix.Bits() == 0:
			s.fault(indexed("trusted", i), "%q includes every address, so any client could forge its address: name only the proxies", text)
		}
		out.Trusted = append(out.Trusted, prefix)
	}
	if len(p.Trusted) == 0 && !s.found.about("proxy.trusted") {
		s.fault("trusted", "is missing: name the addresses of the proxies")
	}
	s.oneOf("header", p.Header, "X-Forwarded-For", "Forwarded")
	out.Header = p.Header
	return out
}

// Webhooks is the section [webhooks].
type Webhooks struct {
	EgressProxy      string `toml:"egress-proxy"`
	MaxSubscriptions *int64 `toml:"max-subscriptions"`
}

// maxSubscriptions bounds the subscriptions of an account, which are all read at once: for each of its events, and for
// lists, which have no pages.
const maxSubscriptions = 10_000

func (w Webhooks) read(s section) server.Webhooks {
	out := server.Webhooks{MaxSubscriptions: int(s.number("max-subscriptions", w.MaxSubscriptions, 1, maxSubscriptions))}
	if w.EgressProxy == "" {
		return out
	}
	u, err := url.Parse(w.EgressProxy)
	switch { // the faults do not repeat the URL: it may have a password in it
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		s.fault("egress-proxy", "must be an http or https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "", u.Path != "" && u.Path != "/":
		s.fault("egress-proxy", "may only have a host and port")
	default:
		out.Proxy = u
	}
	return out
}

// Page is the section [page]: name, logo and colour of the signing page.
type Page struct {
	Name    string `toml:"name"`
	Logo    string `toml:"logo"`
	Colour  string `toml:"colour"`
	Contact string `toml:"contact"`

	logo []byte // content of the file
}

// maxLogo is the most bytes of a logo file that are read. Package page has a lower limit.
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
	for _, checked := range []struct {
		key string
		err error
	}{{"name", name}, {"logo", logo}, {"colour", colour}, {"contact", contact}} {
		if checked.err != nil {
			s.fault(checked.key, "%v", checked.err)
		}
	}
	return o
}

// Retention is the section [retention]: how long records are stored that are not needed any more (spec 7.2).
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

// period is a duration such as "10y", "90d" or "24h"; zero if the key is not set.
type period server.Period

const (
	// minPeriod is longer than a request runs, so that nothing is deleted before a request ends.
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
		return fmt.Errorf("%q must be a duration between 1h and %dy, such as 24h, 90d or 10y", text, maxYears)
	}
	return nil
}

// Span is the duration of a flag, such as "7d" or "36h".
type Span time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Span) UnmarshalText(text []byte) error {
	d, ok := parseSpan(string(text))
	if !ok {
		return fmt.Errorf("%q must be a duration such as 36h or 7d", text)
	}
	*s = Span(d)
	return nil
}

// parseSpan parses a number of days such as "7d", or a duration as [time.ParseDuration] does.
func parseSpan(text string) (time.Duration, bool) {
	if days, rest, inDays := strings.Cut(text, "d"); inDays {
		n, ok := parseCount(days, maxYears*365)
		return time.Duration(n) * day, ok && rest == ""
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// parseCount parses a whole number of at most limit that has only digits.
func parseCount(text string, limit int) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil && int(n) <= limit
}
