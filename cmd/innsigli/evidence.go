package main

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
)

// evidenceFlags say where evidence comes from, for the levels above B.
type evidenceFlags struct {
	TSA          []string `name:"tsa" sep:"none" placeholder:"URL" help:"Timestamp authority (RFC 3161), for the levels above B; several are asked in their order, until the token of one leads to --trust. user:password@ before the host is sent with basic authentication."`
	AllowPrivate bool     `name:"insecure-allow-private-addresses" help:"Call addresses in certificates that are not public, for local trials."`
}

// sources are those of the flags, under the roots in the file trust. Without one the roots
// are among certificates, which the signer came with.
func (f evidenceFlags) sources(level ades.Level, trust string, certificates []*x509.Certificate) (ades.Sources, error) {
	if level == ades.B {
		return ades.Sources{}, nil
	}
	roots, err := readRoots(trust)
	if err != nil {
		return ades.Sources{}, err
	}
	authorities, err := f.authorities(roots, certificates)
	if err != nil {
		return ades.Sources{}, err
	}
	if roots == nil {
		roots = selfSigned(certificates)
	}
	client := addressClient(f.AllowPrivate)
	return ades.Sources{
		Time:       authorities,
		Revocation: &online.Revocation{Client: client},
		Issuers:    &online.Issuers{Client: client},
		Roots:      roots,
	}, nil
}

// addressClient calls addresses that stand in certificates.
func addressClient(private bool) *http.Client {
	if private {
		return online.NewClient(netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"))
	}
	return online.NewClient()
}

// authorities are those of --tsa. Where there is a next one to ask, a token that does not
// lead to the roots is refused at once.
func (f evidenceFlags) authorities(roots *x509.CertPool, intermediates []*x509.Certificate) (online.InOrder, error) {
	if len(f.TSA) < 2 {
		roots = nil
	}
	var all online.InOrder
	for _, address := range f.TSA {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%w: --tsa %q is no http or https URL", errUsage, address)
		}
		password, _ := u.User.Password()
		username := u.User.Username()
		u.User = nil
		all = append(all, &online.TSA{URL: u.String(), Username: username, Password: password, Roots: roots, Intermediates: intermediates})
	}
	return all, nil
}

// parseLevel reads a level, in any case.
func parseLevel(name string) (ades.Level, error) {
	level, err := ades.ParseLevel(name)
	if err != nil {
		return level, fmt.Errorf("%w: %w", errUsage, err)
	}
	return level, nil
}
