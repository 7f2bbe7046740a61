package main

import (
	"context"
	"crypto"
	"fmt"
	"io"
	"os"

	"github.com/innsigli/innsigli/ades"
)

type signCommand struct {
	File  string `arg:"" help:"PDF or XML to sign."`
	Cert  string `required:"" placeholder:"CHAIN.pem" help:"The signer's certificate, and those above it."`
	Key   string `required:"" placeholder:"KEY.pem" help:"The signer's private key: PKCS #8, PKCS #1 or SEC 1, not encrypted."`
	Level string `default:"B" help:"Level of the signature: B, T, LT or LTA (default ${default})."`
	Trust string `placeholder:"ROOTS.pem" help:"Root certificates of the signer and the timestamp authorities, for the levels above B (default the self-signed ones in --cert). Addresses in certificates are called only below these."`
	evidenceFlags
	Reason string `help:"Reason for signing, stored in the signature."`
	pdfFlags
	xmlFlags
	Out string `short:"o" required:"" placeholder:"OUT" help:"File to write."`
}

func (signCommand) Help() string {
	return "A file is a PDF or XML by its content, whatever its name.\n\nExample: innsigli sign contract.pdf --cert chain.pem --key key.pem --stamp BottomRight -o signed.pdf\n\nExample: innsigli sign invoice.xml --cert chain.pem --key key.pem --packing enveloping -o signed.xml"
}

// assignment is what is to be signed and by whom, in either format.
type assignment struct {
	file    string
	content []byte
	signer  ades.Signer
	key     crypto.Signer
	reason  string
	level   ades.Level
	sources ades.Sources // for the level
}

func (c signCommand) Run(ctx context.Context, s streams) error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	a, err := c.assignment()
	if err != nil {
		return err
	}
	kind, err := formatOf(a.content[:min(len(a.content), headSize)])
	if err != nil {
		return fmt.Errorf("signing %s: it cannot be read: %w", c.File, err)
	}
	if err := c.checkFormat(kind); err != nil {
		return err
	}
	signed, err := c.signed(ctx, s, kind, a)
	if err != nil {
		return err
	}
	return writeAll(c.Out, signed)
}

func (c signCommand) signed(ctx context.Context, s streams, kind format, a assignment) (io.Reader, error) {
	if kind == formatXML {
		return c.xmlFlags.sign(ctx, a)
	}
	return c.pdfFlags.sign(ctx, s, a)
}

// checkFlags refuses flags that are wrong whatever the file is.
func (c signCommand) checkFlags() error {
	if _, err := parsePermission(c.Certify); err != nil {
		return err
	}
	if _, err := c.placement(); err != nil {
		return err
	}
	_, err := c.packing()
	return err
}

// checkFormat refuses flags that say something of the other format.
func (c signCommand) checkFormat(kind format) error {
	flag, other := c.xmlFlags.first(), formatXML
	if kind == formatXML {
		flag, other = c.pdfFlags.first(), formatPDF
	}
	if flag == "" {
		return nil
	}
	return fmt.Errorf("%w: --%s is for %v, and %s is %v", errUsage, flag, other, c.File, kind)
}

// assignment reads the files that the flags name.
func (c signCommand) assignment() (assignment, error) {
	a := assignment{file: c.File, reason: c.Reason}
	var err error
	if a.level, err = parseLevel(c.Level); err != nil {
		return a, err
	}
	certificates, err := readCertificates(c.Cert)
	if err != nil {
		return a, err
	}
	a.signer = ades.Signer{Certificate: certificates[0], Chain: certificates[1:]}
	if a.sources, err = c.sources(a.level, c.Trust, certificates); err != nil {
		return a, err
	}
	if a.key, err = readKey(c.Key); err != nil {
		return a, err
	}
	public, ok := a.key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(certificates[0].PublicKey) {
		return a, fmt.Errorf("the key in %s is not that of the first certificate in %s", c.Key, c.Cert)
	}
	a.content, err = os.ReadFile(c.File)
	return a, err
}
