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

// File is the content of a configuration file: its sections as they are written, and the values that were read from them.
// docs/configuration.md describes each key.
type File struct {
	Trust      Trust       `toml:"trust"`
	Timestamps []Timestamp `toml:"timestamp"`
	AtStart

	Roots, TimestampRoots, Intermediates []*x509.Certificate
	PrivateAddresses                     []netip.Prefix // that URLs in certificates may lead to
	authorities                          []authority    // from Timestamps
	files                                fileWatch      // files that were read
}

// AtStart has the sections that take effect when a server starts. The others also take effect while it runs.
type AtStart struct {
	IdentityProvider *IdentityProvider `toml:"identity-provider"`
	Login            *Login            `toml:"login"`
	Page             Page              `toml:"page"`
	Proxy            *Proxy            `toml:"proxy"`
	Limits           Limits            `toml:"limits"`
	Webhooks         Webhooks          `toml:"webhooks"`
	Mail             Mail              `toml:"mail"`
	Retention        Retention         `toml:"retention"`

	Provider  *Provider      // from IdentityProvider
	Logins    *LoginProvider // from Login
	Operator  page.Operator  // from Page
	proxies   server.Proxies
	limits    server.Limits
	webhooks  server.Webhooks
	retention server.Retention
}

// SectionsAtStart names the sections of AtStart.
const SectionsAtStart = "[retention], [webhooks], [mail], [proxy], [limits], [identity-provider], [login] and [page]"

// changed returns the names of sections that have changed, or that name a file that has changed.
func (a AtStart) changed(before AtStart) (sections []string) {
	now, then := reflect.ValueOf(a), reflect.ValueOf(before)
	for i := range now.NumField() {
		if name := now.Type().Field(i).Tag.Get("toml"); name != "" && !reflect.DeepEqual(now.Field(i).Interface(), then.Field(i).Interface()) {
			sections = append(sections, name)
		}
	}
	return sections
}

// readFile reads the configuration file, which is optional except in production.
func (f Flags) readFile(path string) (file File, found Faults) {
	if path != "" {
		file, found = ReadFile(path)
	}
	unread := path != "" && (found.about("--config: ") || found.about(path+": ")) // the file could not be read
	if f.production() && !f.Simulated && !unread {
		file.CheckProduction(&found)
	}
	return file, found
}

// ReadFile reads a configuration file and the files that it names, and finds all of their faults.
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

// CheckProduction adds faults for sections and keys that production requires. Production has no test authority: without
// roots no certificate is trusted, and without a timestamp authority only level B is possible. Who opens a document has to
// be authenticated by a method that the operator has named.
func (f File) CheckProduction(found *Faults) {
	if len(f.Roots) == 0 && !found.about("trust.roots") {
		found.add("trust.roots", "is missing: without a root no certificate is trusted")
	}
	if len(f.Timestamps) == 0 {
		found.add("timestamp", "is missing: without a timestamp authority only level B is possible")
	}
	if f.IdentityProvider == nil {
		found.add("identity-provider", "is missing: without a provider no person can be asked to sign")
	}
	f.Login.checkMethods(found)
}

// duration is a duration such as "60s"; zero if the key is not set.
type duration time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed <= 0 {
		return errors.New(`"` + string(text) + `" must be a duration such as 60s`)
	}
	*d = duration(parsed)
	return nil
}

// timeout is a duration such as "10s", of at most a minute, after which the next service is asked; zero if the key is
// not set.
type timeout time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *timeout) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed <= 0 || parsed > time.Minute {
		return errors.New(`"` + string(text) + `" must be a duration of at most one minute, such as 10s`)
	}
	*d = timeout(parsed)
	return nil
}

// section is a table of the file. Its methods read values, and add faults under the names of the table's keys.
type section struct {
	path  string // prefix of the names of keys: "timestamp[1]."
	found *Faults
	files configFiles
}

// in returns the section of a table within this one.
func (s section) in(name string) section { return section{s.path + name + ".", s.found, s.files} }

// at returns the section of a table in an array.
func (s section) at(name string, i int) section { return s.in(indexed(name, i)) }

func (s section) fault(key, format string, args ...any) { s.found.add(s.path+key, format, args...) }

// together adds a fault if only one of two keys is set.
func (s section) together(a, valueA, b, valueB string) {
	switch {
	case valueA != "" && valueB == "":
		s.fault(b, "is missing, but %s is set", a)
	case valueB != "" && valueA == "":
		s.fault(a, "is missing, but %s is set", b)
	}
}

// required adds a fault if a key is missing, unless the key has a fault already.
func (s section) required(key, value string) {
	if value == "" && !s.found.about(s.path+key+":") {
		s.fault(key, "is missing")
	}
}

// unused adds a fault if a key is set that has no effect.
func (s section) unused(when, key string, set bool) {
	if set {
		s.fault(key, "has no effect %s: remove it", when)
	}
}

// check adds an error of the package that a value is for as a fault of the key, and reports whether there is none.
func (s section) check(key string, err error) bool {
	if err != nil {
		_, text, _ := strings.Cut(err.Error(), ": ") // without the package's name
		s.fault(key, "%s", text)
	}
	return err == nil
}

// oneOf adds a fault for a value that is not one of values. An empty value stands for a key that is not set.
func (s section) oneOf(key, value string, values ...string) {
	if value != "" && !slices.Contains(values, value) {
		s.fault(key, "%q must be one of %s", value, strings.Join(values, ", "))
	}
}

// number returns a number within limits, and 0 if the key is not set or has a fault.
func (s section) number(key string, value *int64, least, most int64) int64 {
	if value == nil {
		return 0
	}
	if *value < least || *value > most {
		s.fault(key, "must be between %d and %d", least, most)
		return 0
	}
	return *value
}

// secureURL adds a fault unless value is a URL that is safe to send secrets and kennitalas to. The fault does not
// repeat the URL, which may have a password in it.
func (s section) secureURL(key, value string) {
	if value == "" {
		return
	}
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		s.fault(key, "must be an https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		s.fault(key, "may only have a host, port and path")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		s.fault(key, "must be https, unless it leads to this machine")
	}
}

// named returns the content of the file that a key names, which read reads; empty if the key is not set.
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
