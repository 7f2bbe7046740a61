package main

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
)

// evidenceFlags say where evidence comes from, for the levels above B.
type evidenceFlags struct {
	TSA          []string `name:"tsa" sep:"none" placeholder:"URL" help:"Timestamp authority (RFC 3161), for the levels above B; several are asked in their order. user:password@ before the host is sent with basic authentication."`
	Trust        string   `placeholder:"ROOTS.pem" help:"Root certificates of the signers and the timestamp authority (default the self-signed ones in --cert). Addresses in certificates are called only below these."`
	AllowPrivate bool     `name:"insecure-allow-private-addresses" help:"Call addresses in certificates that are not public, for local trials."`
}

// sources are those of the flags. certificates are what the signer came with, and have
// the roots when --trust does not.
func (f evidenceFlags) sources(level ades.Level, certificates []*x509.Certificate) (ades.Sources, error) {
	if level == ades.B {
		return ades.Sources{}, nil
	}
	roots, err := f.roots(certificates)
	if err != nil {
		return ades.Sources{}, err
	}
	authorities, err := f.authorities()
	if err != nil {
		return ades.Sources{}, err
	}
	client := online.NewClient()
	if f.AllowPrivate {
		client = online.NewClient(netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"))
	}
	return ades.Sources{
		Time:       authorities,
		Revocation: &online.Revocation{Client: client},
		Issuers:    &online.Issuers{Client: client},
		Roots:      roots,
	}, nil
}

func (f evidenceFlags) roots(certificates []*x509.Certificate) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if f.Trust != "" {
		roots, err := readCertificates(f.Trust)
		for _, r := range roots {
			pool.AddCert(r)
		}
		return pool, err
	}
	for _, c := range certificates {
		if bytes.Equal(c.RawSubject, c.RawIssuer) {
			pool.AddCert(c)
		}
	}
	return pool, nil
}

func (f evidenceFlags) authorities() (online.InOrder, error) {
	var all online.InOrder
	for _, address := range f.TSA {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%w: --tsa %q is no http or https URL", errUsage, address)
		}
		password, _ := u.User.Password()
		username := u.User.Username()
		u.User = nil
		all = append(all, &online.TSA{URL: u.String(), Username: username, Password: password})
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
