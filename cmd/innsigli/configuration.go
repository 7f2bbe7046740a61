package main

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/portal/page"
)

// configuration is what the file of "innsigli serve --config" says.
type configuration struct {
	roots, intermediates []*x509.Certificate
	private              []netip.Prefix // that addresses in certificates may lead to
	authorities          []timestampAuthority
	atStart
	transport mail.Transport         // by --mail and [mail]; nil: there is no mail
	tls       *tlsFiles              // by --tls-cert and --tls-key; nil: plain HTTP
	traces    otlpSettings           // by the environment
	versions  map[string]fileVersion // of the files that were read
}

// atStart is what of a configuration is taken when a server starts.
type atStart struct {
	retention retention
	webhooks  webhookSettings
	mail      mailSettings
	provider  *identityProvider // nil: there is none
	login     *loginProvider    // nil: there is none
	operator  page.Operator
	proxies   proxies
	limits    limits
}

// sectionsAtStart names the sections that make it up.
const sectionsAtStart = "[retention], [webhooks], [mail], [proxy], [limits], [identity-provider], [login] and [page]"

// changed are the sections that are not as they were.
func (a atStart) changed(before atStart) (sections []string) {
	if a.retention != before.retention {
		sections = append(sections, "retention")
	}
	if a.webhooks != before.webhooks {
		sections = append(sections, "webhooks")
	}
	if a.mail != before.mail {
		sections = append(sections, "mail")
	}
	if !a.provider.same(before.provider) {
		sections = append(sections, "identity-provider")
	}
	if !a.login.same(before.login) {
		sections = append(sections, "login")
	}
	if !sameOperator(a.operator, before.operator) {
		sections = append(sections, "page")
	}
	if !a.proxies.same(before.proxies) {
		sections = append(sections, "proxy")
	}
	if a.limits != before.limits {
		sections = append(sections, "limits")
	}
	return sections
}

// readConfiguration reads a configuration and all that it names. Of one that has faults
// the versions alone are to be used.
func readConfiguration(path string) (configuration, faults) {
	var found faults
	files := configFiles{filepath.Dir(path), make(map[string]fileVersion)}
	c := configuration{versions: files.versions}
	content, err := files.read(filepath.Base(path), maxConfiguration)
	if err != nil {
		found.add("--config", "%v", err)
		return c, found
	}
	root := section{faults: &found}
	if err := toml.Unmarshal(content, &root.values); err != nil {
		found.add(path, "%v", err)
		return c, found
	}
	c.readTrust(root.section("trust"), files)
	for _, t := range root.sections("timestamp") {
		c.authorities = append(c.authorities, c.readAuthority(t, files))
	}
	c.provider = readProvider(root, files)
	c.login = readLogin(root, files)
	c.retention = readRetention(root.section("retention"))
	c.webhooks = readWebhooks(root.section("webhooks"))
	c.mail = readMail(root.section("mail"), files)
	c.operator = readPage(root.section("page"), files)
	c.proxies = readProxies(root)
	c.limits = readLimits(root.section("limits"))
	root.end()
	return c, found
}

func (c *configuration) readTrust(t section, files configFiles) {
	c.roots = files.certificates(t, "roots")
	c.intermediates = files.certificates(t, "intermediates")
	for i, text := range t.texts("private-addresses") {
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix != prefix.Masked() {
			t.fault(fmt.Sprintf("private-addresses[%d]", i), "%q is no prefix such as 10.0.0.0/8", text)
		}
		c.private = append(c.private, prefix)
	}
	t.end()
}

// required notes what production cannot be without: it has no authority of its own, so
// that nobody's certificate would be trusted and no level but B be had.
func (c configuration) required(found *faults) {
	if len(c.roots) == 0 && !found.about("trust.roots") {
		found.add("trust.roots", "there is none, and without one nobody's certificate is trusted")
	}
	if len(c.authorities) == 0 {
		found.add("timestamp", "there is none, and without one there is no level but B")
	}
	if c.provider == nil {
		found.add("identity-provider", "there is none, and without one nobody can be asked to sign")
	}
}

// trusts says whether the roots have all of the certificates.
func trusts(roots, certificates []*x509.Certificate) bool {
	return !slices.ContainsFunc(certificates, func(c *x509.Certificate) bool { return !slices.ContainsFunc(roots, c.Equal) })
}
