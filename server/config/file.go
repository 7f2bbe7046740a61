package config

import (
	"crypto/x509"
	"errors"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/server"
)

// File is the file of a configuration: its sections as they are written, and what was made of them. docs/configuration.md
// says what each key means.
type File struct {
	Trust      Trust       `toml:"trust"`
	Timestamps []Timestamp `toml:"timestamp"`
	AtStart

	Roots, TimestampRoots, Intermediates []*x509.Certificate
	PrivateAddresses                     []netip.Prefix // that addresses in certificates may lead to
	authorities                          []authority    // of Timestamps
	files                                fileWatch      // that were read
}

// AtStart are the sections that are taken when a server starts; the others are also taken while it runs.
type AtStart struct {
	IdentityProvider *IdentityProvider `toml:"identity-provider"`
	Login            *Login            `toml:"login"`
	Page             Page              `toml:"page"`
	Proxy            *Proxy            `toml:"proxy"`
	Limits           Limits            `toml:"limits"`
	Webhooks         Webhooks          `toml:"webhooks"`
	Mail             Mail              `toml:"mail"`
	Retention        Retention         `toml:"retention"`

	Provider  *Provider      // of IdentityProvider
	Logins    *LoginProvider // of Login
	Operator  page.Operator  // of Page
	proxies   server.Proxies
	limits    server.Limits
	webhooks  server.Webhooks
	retention server.Retention
}

// SectionsAtStart names the sections of AtStart.
const SectionsAtStart = "[retention], [webhooks], [mail], [proxy], [limits], [identity-provider], [login] and [page]"

// changed returns the names of sections that are not as they were, nor the files that they name.
func (a AtStart) changed(before AtStart) (sections []string) {
	now, then := reflect.ValueOf(a), reflect.ValueOf(before)
	for i := range now.NumField() {
		if name := now.Type().Field(i).Tag.Get("toml"); name != "" && !reflect.DeepEqual(now.Field(i).Interface(), then.Field(i).Interface()) {
			sections = append(sections, name)
		}
	}
	return sections
}

// readFile reads the file of a configuration; there may be none, but in production.
func (f Flags) readFile(path string) (file File, found Faults) {
	if path != "" {
		file, found = ReadFile(path)
	}
	unread := path != "" && (found.about("--config: ") || found.about(path+": ")) // it is not known what the file lacks
	if f.production() && !f.Simulated && !unread {
		file.CheckProduction(&found)
	}
	return file, found
}

// ReadFile reads a file and those that it names, and finds all of their faults.
func ReadFile(path string) (File, Faults) {
	var f File
	var found Faults
	files := configFiles{filepath.Dir(path), make(map[string]fileVersion)}
	f.files = fileWatch{seen: files.versions}
	content, err := files.read(filepath.Base(path), maxConfiguration)
	if err != nil {
		found.add("--config", "%v", err)
		return f, found
	}
	var values map[string]any
	if err := toml.Unmarshal(content, &values); err != nil {
		found.add(path, "%v", err)
		return f, found
	}
	decode(values, &f, &found)
	root := section{"", &found, files}
	f.readTrust(root.in("trust"))
	for i := range f.Timestamps {
		f.authorities = append(f.authorities, f.readAuthority(root.at("timestamp", i), f.Timestamps[i]))
	}
	f.Provider = f.IdentityProvider.read(root)
	f.Logins = f.Login.read(root)
	f.retention = f.Retention.read()
	f.webhooks = f.Webhooks.read(root.in("webhooks"))
	f.Mail.read(root.in("mail"))
	f.Operator = f.Page.read(root.in("page"))
	f.proxies = f.Proxy.read(root.in("proxy"))
	f.limits = f.Limits.read(root.in("limits"))
	return f, found
}

// CheckProduction notes what production cannot be without: it has no authority of its own, so
// that no certificate would be trusted and no level but B could be reached.
func (f File) CheckProduction(found *Faults) {
	if len(f.Roots) == 0 && !found.about("trust.roots") {
		found.add("trust.roots", "there is none, and without one no certificate is trusted")
	}
	if len(f.Timestamps) == 0 {
		found.add("timestamp", "there is none, and without one there is no level but B")
	}
	if f.IdentityProvider == nil {
		found.add("identity-provider", "there is none, and without one nobody can be asked to sign")
	}
}

// duration is a length of time such as "60s". Zero: the key is not there.
type duration time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed <= 0 {
		return errors.New(`"` + string(text) + `" is no time such as 60s`)
	}
	*d = duration(parsed)
	return nil
}

// timeout is a length of time such as "10s", up to a minute: a service that does not answer holds up
// no longer what another would give. Zero: the key is not there.
type timeout time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *timeout) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed <= 0 || parsed > time.Minute {
		return errors.New(`"` + string(text) + `" is no time of up to a minute, such as 10s`)
	}
	*d = timeout(parsed)
	return nil
}

// section notes faults of a table of the file under the names of its keys.
type section struct {
	path  string // before the names of keys: "timestamp[1]."
	found *Faults
	files configFiles
}

// in returns the section of a table within this one.
func (s section) in(name string) section { return section{s.path + name + ".", s.found, s.files} }

// at returns the section of a table in an array.
func (s section) at(name string, i int) section { return s.in(indexed(name, i)) }

func (s section) fault(key, format string, args ...any) { s.found.add(s.path+key, format, args...) }

// together notes that of two keys one is missing.
func (s section) together(a, valueA, b, valueB string) {
	switch {
	case valueA != "" && valueB == "":
		s.fault(b, "is missing, and %s is there", a)
	case valueB != "" && valueA == "":
		s.fault(a, "is missing, and %s is there", b)
	}
}

// required notes that a key is missing, unless a fault of it is known.
func (s section) required(key, value string) {
	if value == "" && !s.found.about(s.path+key+":") {
		s.fault(key, "is missing")
	}
}

// unused notes that a key is there and has no effect.
func (s section) unused(when, key string, there bool) {
	if there {
		s.fault(key, "is not used %s", when)
	}
}

// judged notes what the package that a value is for has against it, and reports whether it has nothing.
func (s section) judged(key string, err error) bool {
	if err != nil {
		_, text, _ := strings.Cut(err.Error(), ": ") // without the package's name
		s.fault(key, "%s", text)
	}
	return err == nil
}

// oneOf notes a value that is none of those that there are. Empty: the key is not there.
func (s section) oneOf(key, value string, values ...string) {
	if value != "" && !slices.Contains(values, value) {
		s.fault(key, "%q is none of %s", value, strings.Join(values, ", "))
	}
}

// number returns a number within limits; 0 when the key is not there, or is faulty.
func (s section) number(key string, value *int64, least, most int64) int64 {
	if value == nil {
		return 0
	}
	if *value < least || *value > most {
		s.fault(key, "is not between %d and %d", least, most)
		return 0
	}
	return *value
}

// secureURL notes what is wrong with the URL of a service that secrets or kennitalas are sent to. It does not
// repeat the URL, which may have a password in it.
func (s section) secureURL(key, value string) {
	if value == "" {
		return
	}
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		s.fault(key, "is no https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		s.fault(key, "is more than host, port and path")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		s.fault(key, "is not https, and not on this machine")
	}
}

// named returns what read finds in the file that a key names, if it names one.
func (s section) named(key, path string, read func(string) (string, error)) string {
	if path == "" {
		return ""
	}
	content, err := read(path)
	if err != nil {
		s.fault(key, "%v", err)
	}
	return content
}
