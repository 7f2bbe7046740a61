package main

import (
	"context"
	"crypto"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/xades"
)

type signCommand struct {
	File  string `arg:"" help:"PDF or XML to sign."`
	Cert  string `required:"" placeholder:"CHAIN.pem" help:"Certificate of the signer, followed by its chain."`
	Key   string `required:"" placeholder:"KEY.pem" help:"Private key of the signer: PKCS #8, PKCS #1 or SEC 1, not encrypted."`
	Pss   bool   `help:"With an RSA key: sign with RSASSA-PSS (default: RSASSA-PKCS1-v1_5, which more programs support)."`
	Level string `default:"B" help:"Level of the signature: B, T, LT or LTA (default ${default})."`
	Trust string `placeholder:"ROOTS.pem" help:"Root certificates of the signer and the timestamp authorities, for the levels above B (default: the self-signed ones in --cert). Only URLs in certificates that lead to these roots are called."`
	evidenceFlags
	Reason string `help:"Reason for signing, stored in the signature."`
	pdfFlags
	xmlFlags
	Out string `short:"o" required:"" placeholder:"OUT" help:"File to write."`
}

func (signCommand) Help() string {
	return "The content of a file tells whether it is a PDF or XML, not its name. A PDF may be larger than the memory; XML is read into memory, up to 256 MB.\n\nThe document and the signature are written to a file beside OUT, which then takes its place. OUT may be FILE.\n\nExample: innsigli sign contract.pdf --cert chain.pem --key key.pem --stamp BottomRight -o signed.pdf\n\nExample: innsigli sign invoice.xml --cert chain.pem --key key.pem --packing enveloping -o signed.xml"
}

// assignment is what to sign with, in either format.
type assignment struct {
	file    string
	signer  ades.SignerIdentity
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
	src, err := openSource(c.File)
	if err != nil {
		return err
	}
	defer src.close()
	kind, err := src.format()
	if err != nil {
		return fmt.Errorf("signing %s: %w", c.File, err)
	}
	if err := c.checkFormat(kind); err != nil {
		return err
	}
	if kind == formatXML {
		return c.signXML(ctx, a, src)
	}
	return writeRevised(ctx, c.Out, src, func(document pades.Document) ([]pades.Revision, error) {
		return c.pdfFlags.sign(ctx, s, a, document)
	})
}

func (c signCommand) signXML(ctx context.Context, a assignment, src *source) error {
	document, err := src.xml()
	if err != nil {
		return err
	}
	signed, err := c.xmlFlags.sign(ctx, a, document)
	if err != nil {
		return err
	}
	return writeAll(c.Out, signed)
}

// checkFlags returns an error for flags that are wrong for both formats.
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

// checkFormat returns an error for a flag of the other format.
func (c signCommand) checkFormat(kind format) error {
	flag, other := c.xmlFlags.first(), formatXML
	if kind == formatXML {
		flag, other = c.pdfFlags.first(), formatPDF
	}
	if flag == "" {
		return nil
	}
	return fmt.Errorf("%w: --%s is for %v, but %s is %v", errUsage, flag, other, c.File, kind)
}

// assignment reads the files of the flags, without the document.
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
	a.signer = ades.SignerIdentity{Certificate: certificates[0], Chain: certificates[1:]}
	if a.sources, err = c.sources(a.level, c.Trust, certificates); err != nil {
		return a, err
	}
	if a.key, err = readKey(c.Key); err != nil {
		return a, err
	}
	public, ok := a.key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(certificates[0].PublicKey) {
		return a, fmt.Errorf("the key in %s does not belong to the first certificate in %s", c.Key, c.Cert)
	}
	a.signer.Algorithm, err = c.algorithm(a.key.Public())
	return a, err
}

// algorithm returns the algorithm of the flags; the zero value stands for the default of the key.
func (c signCommand) algorithm(key crypto.PublicKey) (ades.Algorithm, error) {
	if !c.Pss {
		return ades.Algorithm{}, nil
	}
	if _, ok := key.(*rsa.PublicKey); !ok {
		return ades.Algorithm{}, fmt.Errorf("%w: --pss is for RSA keys, and the key in %s is not an RSA key", errUsage, c.Key)
	}
	return ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}, nil
}

// pdfFlags are the flags that are only for signatures in PDF.
type pdfFlags struct {
	Location string `help:"PDF: location of the signer, stored in the signature."`
	Field    string `placeholder:"NAME" help:"PDF: fully qualified name of the empty signature field to sign (default: a new, invisible field)."`
	Stamp    string `placeholder:"CORNER[:X,Y][@PAGE]" help:"PDF: draw a stamp with the name and kennitala of the certificate, the time and the reason. BottomRight puts it in the first free space from that corner of page 1; BottomRight:36,36@2 puts it 36 points inwards from both edges of that corner, on page 2. Corners are TopLeft, TopRight, BottomLeft and BottomRight."`
	rendererFlag
	Certify string `placeholder:"PERMISSION" help:"PDF: certify the document with its first signature, and permit these later changes: no-changes, form-filling or annotations."`
}

// first returns the name of the first flag that is set; empty if none is.
func (f pdfFlags) first() string {
	return firstGiven([]flagValue{{"location", f.Location}, {"field", f.Field}, {"stamp", f.Stamp}, {"certify", f.Certify}})
}

// flagValue is a flag with its value.
type flagValue struct{ name, value string }

func firstGiven(flags []flagValue) string {
	for _, f := range flags {
		if f.value != "" {
			return f.name
		}
	}
	return ""
}

// sign signs the document, extends the signature to its level and returns the revisions.
func (f pdfFlags) sign(ctx context.Context, s streams, a assignment, document pades.Document) ([]pades.Revision, error) {
	options, err := f.options(ctx, s, a, document)
	if err != nil {
		return nil, err
	}
	pending, err := pades.Prepare(ctx, document, a.signer, options)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", a.file, err)
	}
	revisions, err := complete(ctx, pending, a, document)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", a.file, err)
	}
	if pending.UsageRights() {
		fmt.Fprintf(s.stderr, "%s had usage rights for Adobe Reader. The signature makes them invalid, and Acrobat reports that.\n", a.file)
	}
	return revisions, nil
}

// options returns the options of the signature, with a stamp if the flags have one.
func (f pdfFlags) options(ctx context.Context, s streams, a assignment, document pades.Document) (pades.Options, error) {
	options := pades.Options{
		Name:     a.signer.Certificate.Subject.CommonName,
		Reason:   a.reason,
		Location: f.Location,
		Time:     time.Now(),
		Field:    f.Field,
		Level:    a.level,
	}
	var err error
	if options.Certify, err = parsePermission(f.Certify); err != nil {
		return options, err
	}
	placement, err := f.placement()
	if err != nil || placement == nil {
		return options, err
	}
	if err := pades.Check(ctx, document, options); err != nil { // before pages are drawn
		return options, fmt.Errorf("signing %s: %w", a.file, err)
	}
	text := stamp.Text{Name: options.Name, Kennitala: idp.ShownKennitala(a.signer.Certificate), Time: options.Time, Reason: a.reason}
	if options.Visible, err = f.visible(ctx, s, *placement, document, text); err != nil {
		return options, fmt.Errorf("the stamp on %s: %w", a.file, err)
	}
	return options, nil
}

// complete signs a prepared document and extends the signature to its level.
func complete(ctx context.Context, pending *pades.Pending, a assignment, document pades.Document) ([]pades.Revision, error) {
	revision, err := pending.Sign(ctx, a.key, a.sources.Time)
	if err != nil || a.level < ades.T {
		return []pades.Revision{revision}, err
	}
	// A timestamp that was too long for its place in the signature is added after it.
	further, err := pades.Extender{Sources: a.sources}.ExtendLast(ctx, document.With(revision), a.level)
	return append([]pades.Revision{revision}, further...), err
}

// parsePermission parses the value of --certify; empty: no certification.
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
	return 0, fmt.Errorf("%w: --certify must be no-changes, form-filling or annotations, not %q", errUsage, name)
}

// xmlFlags are the flags that are only for signatures in XML.
type xmlFlags struct {
	Packing string `placeholder:"PACKING" help:"XML: where the signature is: enveloped, in the root element of the document (the default); enveloping, around the document; or internally-detached, beside the document in a new root element."`
	Base64  bool   `name:"base64" env:"INNSIGLI_BASE64" help:"XML: with --packing enveloping, sign the bytes of the file in Base64, and not its elements."`
	City    string `help:"XML: city of the signer, stored in the signature."`
	Country string `help:"XML: country of the signer, such as IS, stored in the signature."`
}

// first returns the name of the first flag that is set; empty if none is.
func (f xmlFlags) first() string {
	if given := firstGiven([]flagValue{{"packing", f.Packing}, {"city", f.City}, {"country", f.Country}}); given != "" || !f.Base64 {
		return given
	}
	return "base64"
}

// packing returns the packing of the flags, by default Enveloped.
func (f xmlFlags) packing() (xades.Packing, error) {
	packing, ok := map[string]xades.Packing{
		"":                    xades.Enveloped,
		"enveloped":           xades.Enveloped,
		"enveloping":          xades.Enveloping,
		"internally-detached": xades.InternallyDetached,
	}[f.Packing]
	switch {
	case !ok:
		return 0, fmt.Errorf("%w: --packing must be enveloped, enveloping or internally-detached, not %q", errUsage, f.Packing)
	case f.Base64 && packing != xades.Enveloping:
		return 0, fmt.Errorf("%w: --base64 requires --packing enveloping", errUsage)
	}
	return packing, nil
}

// sign returns the signed document.
func (f xmlFlags) sign(ctx context.Context, a assignment, document xades.Document) (io.Reader, error) {
	packing, err := f.packing()
	if err != nil {
		return nil, err
	}
	revision, err := xades.Sign(ctx, document, a.key, a.signer, xades.Options{
		Packing: packing, Base64: f.Base64, City: f.City, Country: f.Country, Reason: a.reason, Level: a.level,
	}, a.sources)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", a.file, err)
	}
	return withRevisions(document, []xades.Revision{revision}), nil
}

// withRevisions returns a reader of a document with revisions.
func withRevisions(document xades.Document, revisions []xades.Revision) io.Reader {
	for _, r := range revisions {
		document = document.With(r)
	}
	return io.NewSectionReader(document, 0, document.Size)
}

// placement returns the placement of the stamp; nil: there is no stamp.
func (f pdfFlags) placement() (*placement, error) {
	switch {
	case f.Stamp == "":
		return nil, nil
	case f.Field != "":
		return nil, fmt.Errorf("%w: give either --stamp or --field, not both: a stamp needs a new field", errUsage)
	}
	p, err := parsePlacement(f.Stamp)
	return &p, err
}

// visible returns the standard stamp and its rectangle on the page.
func (f pdfFlags) visible(ctx context.Context, s streams, p placement, document pades.Document, text stamp.Text) (*pades.Visible, error) {
	page, err := stamp.ReadPage(document, document.Size, p.page)
	if err != nil {
		return nil, err
	}
	rect, err := f.place(ctx, s, p, page)
	if err != nil {
		return nil, err
	}
	appearance, err := stamp.Standard(text)
	if err != nil {
		return nil, err
	}
	llx, lly, urx, ury := page.UserSpace(rect)
	return &pades.Visible{Page: page.Number, Rect: pades.Rect{LLX: llx, LLY: lly, URX: urx, URY: ury}, Appearance: appearance}, nil
}

// place returns the rectangle of the stamp, and searches for free space unless the placement is manual.
func (f pdfFlags) place(ctx context.Context, s streams, p placement, page *stamp.Page) (_ stamp.Rect, err error) {
	if p.manual {
		return page.Place(p.corner, p.x, p.y, stamp.StandardSize)
	}
	renderer := f.renderer()
	defer func() { err = errors.Join(err, renderer.Close()) }()
	if err := renderer.WarmNotify(ctx, s.say); err != nil {
		return stamp.Rect{}, err
	}
	return page.Find(ctx, renderer, p.corner, stamp.StandardSize)
}

// placement is the placement of a stamp on a page.
type placement struct {
	page   int
	corner stamp.Corner
	manual bool    // at x, y; else in the first free space from the corner
	x, y   float64 // from the corner inwards, in points
}

// parsePlacement parses the value of --stamp.
func parsePlacement(text string) (placement, error) {
	p := placement{page: 1}
	position, page, hasPage := strings.Cut(text, "@")
	corner, offset, manual := strings.Cut(position, ":")
	x, y, hasY := strings.Cut(offset, ",")
	p.manual = manual

	var ok bool
	if p.corner, ok = parseCorner(corner); !ok {
		return p, placementError("%q is not a corner", corner)
	}
	if manual {
		var okX, okY bool
		p.x, okX = parsePoints(x)
		p.y, okY = parsePoints(y)
		if !hasY || !okX || !okY {
			return p, placementError("%q must be two numbers of 0 or more, in points, such as 36,36", offset)
		}
	}
	if hasPage {
		n, err := strconv.Atoi(page)
		if err != nil || n < 1 {
			return p, placementError("%q must be a page number, counted from 1", page)
		}
		p.page = n
	}
	return p, nil
}

func placementError(format string, args ...any) error {
	return fmt.Errorf("%w: --stamp must be CORNER[:X,Y][@PAGE], with the corner TopLeft, TopRight, BottomLeft or BottomRight: "+format, append([]any{errUsage}, args...)...)
}

// parseCorner parses the name of a corner in the API (spec 3.3), ignoring case.
func parseCorner(name string) (stamp.Corner, bool) {
	switch strings.ToLower(name) {
	case "topleft":
		return stamp.TopLeft, true
	case "topright":
		return stamp.TopRight, true
	case "bottomleft":
		return stamp.BottomLeft, true
	case "bottomright":
		return stamp.BottomRight, true
	}
	return 0, false
}

func parsePoints(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && n >= 0 && !math.IsInf(n, 1)
}
