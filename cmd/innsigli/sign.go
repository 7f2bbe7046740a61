package main

import (
	"bytes"
	"context"
	"crypto"
	"fmt"
	"os"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
)

type signCommand struct {
	File  string `arg:"" help:"PDF to sign."`
	Cert  string `required:"" placeholder:"CHAIN.pem" help:"The signer's certificate, and those above it."`
	Key   string `required:"" placeholder:"KEY.pem" help:"The signer's private key: PKCS #8, PKCS #1 or SEC 1, not encrypted."`
	Level string `default:"B" help:"Level of the signature: B, T, LT or LTA (default ${default})."`
	Trust string `placeholder:"ROOTS.pem" help:"Root certificates of the signer and the timestamp authorities, for the levels above B (default the self-signed ones in --cert). Addresses in certificates are called only below these."`
	evidenceFlags
	Reason   string `help:"Reason for signing, stored in the signature."`
	Location string `help:"Where the signer signs from, stored in the signature."`
	Field    string `placeholder:"NAME" help:"Fully qualified name of the empty signature field to sign (default a new one, invisible)."`
	Stamp    string `placeholder:"CORNER[:X,Y][@PAGE]" help:"Draw a stamp, with the name and kennitala of the certificate, the time and the reason: BottomRight finds the first free spot from that corner, BottomRight:36,36@2 is so many points from that corner of page 2. Corners are TopLeft, TopRight, BottomLeft and BottomRight."`
	rendererFlag
	Certify string `placeholder:"PERMISSION" help:"Certify the document, as its first signature, and permit later: no-changes, form-filling or annotations."`
	Out     string `short:"o" required:"" placeholder:"OUT" help:"File to write."`
}

func (signCommand) Help() string {
	return "Example: innsigli sign contract.pdf --cert chain.pem --key key.pem --stamp BottomRight -o signed.pdf"
}

func (c signCommand) Run(ctx context.Context, s streams) error {
	level, err := parseLevel(c.Level)
	if err != nil {
		return err
	}
	certify, err := parsePermission(c.Certify)
	if err != nil {
		return err
	}
	place, err := c.placement()
	if err != nil {
		return err
	}
	certificates, err := readCertificates(c.Cert)
	if err != nil {
		return err
	}
	sources, err := c.sources(level, c.Trust, certificates)
	if err != nil {
		return err
	}
	key, err := readKey(c.Key)
	if err != nil {
		return err
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(certificates[0].PublicKey) {
		return fmt.Errorf("the key in %s is not that of the first certificate in %s", c.Key, c.Cert)
	}
	content, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	signer := ades.Signer{Certificate: certificates[0], Chain: certificates[1:]}
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	options := pades.Options{
		Name:     certificates[0].Subject.CommonName,
		Reason:   c.Reason,
		Location: c.Location,
		Time:     time.Now(),
		Field:    c.Field,
		Certify:  certify,
		Level:    level,
	}
	if place != nil {
		if err := pades.Check(ctx, document, options); err != nil { // before pages are drawn
			return fmt.Errorf("signing %s: %w", c.File, err)
		}
		text := stamp.Text{Name: options.Name, Kennitala: idp.ShownKennitala(certificates[0]), Time: options.Time, Reason: options.Reason}
		if options.Visible, err = c.visible(ctx, s, *place, document, text); err != nil {
			return fmt.Errorf("the stamp on %s: %w", c.File, err)
		}
	}
	pending, err := pades.Prepare(ctx, document, signer, options)
	if err != nil {
		return fmt.Errorf("signing %s: %w", c.File, err)
	}
	revision, err := pending.Sign(ctx, key, sources.Time)
	if err != nil {
		return fmt.Errorf("signing %s: %w", c.File, err)
	}
	parts := [][]byte{content, revision.Bytes}
	if level >= ades.T { // a timestamp that was too long for the signature comes behind it
		further, err := pades.Extender{Sources: sources}.ExtendLast(ctx, document.With(revision), level)
		if err != nil {
			return fmt.Errorf("signing %s: %w", c.File, err)
		}
		parts = append(parts, contents(further)...)
	}
	if pending.UsageRights() {
		fmt.Fprintf(s.talk, "%s was enabled for features of Adobe Reader. The signature ends that, and Acrobat will say so.\n", c.File)
	}
	return writeFile(c.Out, parts...)
}

// parsePermission reads what a certification permits; "" is none.
func parsePermission(name string) (pades.Permission, error) {
	switch name {
	case "":
		return 0, nil
	case "no-changes":
		return pades.NoChanges, nil
	case "form-filling":
		return pades.FormFilling, nil
	case "annotations":
		return pades.Annotations, nil
	}
	return 0, fmt.Errorf("%w: --certify is no-changes, form-filling or annotations, not %q", errUsage, name)
}
