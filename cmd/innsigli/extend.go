package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/xades"
)

type extendCommand struct {
	File  string `arg:"" help:"Signed PDF or XML."`
	Level string `required:"" placeholder:"LEVEL" help:"New level of the signatures: T, LT or LTA. Signatures that have it already stay as they are."`
	Renew bool   `help:"With LTA: add another archive timestamp to signatures of level LTA, before the certificate of the last one expires or its algorithms become weak."`
	Trust string `placeholder:"ROOTS.pem" help:"Root certificates of the signers and timestamp authorities; required for LT and LTA. Only URLs in certificates that lead to these roots are called."`
	evidenceFlags
	Out string `short:"o" required:"" placeholder:"OUT" help:"File to write."`
}

func (extendCommand) Help() string {
	return "The command appends the data that is needed to validate the signatures later: to the end of a PDF, and to each signature in XML. The signed data stays as it is. A PDF may be larger than the memory. OUT may be FILE.\n\nExample: innsigli extend signed.pdf --level LTA --trust roots.pem --tsa https://tsa.example/ -o archived.pdf"
}

func (c extendCommand) Run(ctx context.Context, _ streams) error {
	level, err := parseLevel(c.Level)
	if err != nil {
		return err
	}
	if level == ades.B {
		return fmt.Errorf("%w: --level must be T, LT or LTA: every signature has level B", errUsage)
	}
	if c.Renew && level != ades.LTA {
		return fmt.Errorf("%w: --renew requires --level LTA: lower levels have no archive timestamp to renew", errUsage)
	}
	if c.Trust == "" && level >= ades.LT {
		return fmt.Errorf("%w: --trust is missing: only signatures whose certificates lead to a trusted root are extended", errUsage)
	}
	sources, err := c.sources(level, c.Trust, nil)
	if err != nil {
		return err
	}
	src, err := openSource(c.File)
	if err != nil {
		return err
	}
	defer src.close()
	kind, err := src.format()
	if err != nil {
		return fmt.Errorf("extending %s: %w", c.File, err)
	}
	if kind == formatXML {
		return c.extendXML(ctx, src, level, sources)
	}
	return writeRevised(ctx, c.Out, src, func(document pades.Document) ([]pades.Revision, error) {
		return extend(ctx, pades.Extender{Sources: sources}, document, level, c)
	})
}

func (c extendCommand) extendXML(ctx context.Context, src *source, level ades.Level, sources ades.Sources) error {
	document, err := src.xml()
	if err != nil {
		return err
	}
	revisions, err := extend(ctx, xades.Extender{Sources: sources}, document, level, c)
	if err != nil {
		return err
	}
	return writeAll(c.Out, withRevisions(document, revisions))
}

// extender is the interface of the Extenders of both formats.
type extender[Document, Revision any] interface {
	Extend(context.Context, Document, ades.Level) ([]Revision, error)
	Renew(context.Context, Document) ([]Revision, error)
}

// extend extends or renews the signatures of a document.
func extend[Document, Revision any](ctx context.Context, x extender[Document, Revision], document Document, level ades.Level, c extendCommand) (revisions []Revision, err error) {
	if c.Renew {
		revisions, err = x.Renew(ctx, document)
	} else {
		revisions, err = x.Extend(ctx, document, level)
	}
	if err != nil {
		return nil, fmt.Errorf("extending %s: %w", c.File, err)
	}
	return revisions, nil
}

// evidenceFlags set the sources of timestamps and validation data, for the levels above B.
type evidenceFlags struct {
	TSA            []string `name:"tsa" sep:"none" placeholder:"URL" help:"Timestamp authority (RFC 3161), for the levels above B. Several are asked in their order, until a token leads to --timestamp-trust or --trust. user:password@ before the host is sent with basic authentication."`
	TimestampTrust string   `placeholder:"ROOTS.pem" help:"Root certificates of timestamp authorities (default: those of --trust). With it, --trust is only for signers."`
	AllowPrivate   bool     `name:"insecure-allow-private-addresses" help:"Also call URLs in certificates that lead to private addresses, for local trials."`
}

// sources returns the sources of the flags, with the roots in the file trust. Without a file the roots are the
// self-signed ones among certificates, which are the signer's chain.
func (f evidenceFlags) sources(level ades.Level, trust string, certificates []*x509.Certificate) (ades.Sources, error) {
	if level == ades.B {
		return ades.Sources{}, nil
	}
	roots, err := readRoots(trust)
	if err != nil {
		return ades.Sources{}, err
	}
	timestamps, err := readRoots(f.TimestampTrust)
	if err != nil {
		return ades.Sources{}, err
	}
	authorities, err := f.authorities(cmp.Or(timestamps, roots), certificates)
	if err != nil {
		return ades.Sources{}, err
	}
	if roots == nil {
		roots = selfSigned(certificates)
	}
	client, chains := addressClient(f.AllowPrivate), new(ades.Chains)
	return ades.Sources{
		Time:           authorities,
		Revocation:     &online.Revocation{Client: client, Chains: chains},
		Issuers:        &online.Issuers{Client: client},
		Roots:          roots,
		TimestampRoots: timestamps,
		Chains:         chains,
	}, nil
}

// addressClient returns a client for URLs in certificates.
func addressClient(private bool) *http.Client {
	if private {
		return online.NewClient(netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"))
	}
	return online.NewClient()
}

// authorities returns the timestamp authorities of --tsa. If there are several, a token that does not lead to the roots is
// refused, so that the next authority is asked.
func (f evidenceFlags) authorities(roots *x509.CertPool, intermediates []*x509.Certificate) (online.InOrder, error) {
	if len(f.TSA) < 2 {
		roots = nil
	}
	var all online.InOrder
	for _, address := range f.TSA {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%w: --tsa %q is not an http or https URL", errUsage, address)
		}
		password, _ := u.User.Password()
		username := u.User.Username()
		u.User = nil
		all = append(all, &online.TSA{URL: u.String(), Username: username, Password: password, Roots: roots, Intermediates: intermediates})
	}
	return all, nil
}

// parseLevel parses a level, ignoring case.
func parseLevel(name string) (ades.Level, error) {
	level, err := ades.ParseLevel(name)
	if err != nil {
		return level, fmt.Errorf("%w: %w", errUsage, err)
	}
	return level, nil
}
