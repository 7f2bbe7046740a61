package audkenni

import (
	"cmp"
	"crypto"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
)

// Options are the terms agreed with Auðkenni. Only Client is mandatory.
type Options struct {
	// Client is registered with Auðkenni: for ping mode if Ping is set, otherwise for poll mode.
	Client *ciba.Client
	// RelatedParty is the service on whose behalf a broker sends requests, as Auðkenni knows it.
	RelatedParty string
	App          AppOptions
	SIM          SIMOptions
	// Errors adds rows to the table of [Errors] and takes precedence over it: [idp.ErrorCodes] by texts, without those
	// after which polling continues; "" for an error for which the service has no code.
	Errors map[string]idp.ErrorCode
	// AnyName allows an answer whose name differs from that of the certificate. The kennitala is compared in any case.
	AnyName bool
	// Ping means that Auðkenni sends a ping when an answer is available; see [Provider.Notification].
	Ping bool
}

// AppOptions are the options of [idp.App].
type AppOptions struct {
	CertificateACR string      // acr_values of the request for the certificate; default "app-certificate-choice"
	SignACR        string      // acr_values of the request for the signature; default "app-sign-with-certificate"
	Hash           crypto.Hash // of digests; default SHA-512
	// SignHint is the hint of the request for the signature: HintKennitala (default), or HintDocument for the chosen
	// device.
	SignHint Hint
	// ChoiceClaim is a further claim of that request, with the chosen device; default none.
	ChoiceClaim string
	// CodeChoice makes the person choose the verification code out of three.
	CodeChoice bool
	// Confirm shows the text in a window of its own, and LongText there if it is set: at most 200 characters, with
	// {document} for the document's name.
	Confirm  bool
	LongText string
}

// SIMOptions are the options of [idp.SIM].
type SIMOptions struct {
	ACR    string      // acr_values of requests for a signature value; default "sim-sign-pkcs1"
	CMSACR string      // acr_values of requests for a CMS; default "sim-sign"
	Hash   crypto.Hash // of digests; default SHA-256
	Hint   Hint        // HintLocalPhone (default), HintPhone or HintKennitala
	// CMS makes the answer a CMS (RFC 5652), which Auðkenni creates. The certificate need not be known before, but the
	// CMS does not meet EN 319 142-1 for a PAdES baseline signature.
	CMS bool
	// NoLearning refuses a person whose certificate is not known, instead of sending a further request to get it.
	NoLearning bool
	// Text is the text on the phone, with {code} for the verification code and {document} for the document's name,
	// truncated to fit. Default "{code} {document}".
	Text string
	// LearnText is the text of the request for the certificate; default "{code} Staðfesting fyrir undirritun".
	LearnText string
	// TextLimit is the maximum length of both in characters, at most 200; default 60.
	TextLimit int
}

// Hint is the kind of login_hint by which a request identifies the person.
type Hint string

const (
	HintKennitala  Hint = "kennitala"   // ten digits
	HintDocument   Hint = "documentNr"  // of the chosen device
	HintLocalPhone Hint = "local phone" // seven digits, without the country code
	HintPhone      Hint = "phone"       // as the client wrote it
)

// withDefaults returns the options with their defaults, or the faults of the options.
func (o Options) withDefaults() (Options, error) {
	app, sim := &o.App, &o.SIM
	app.CertificateACR = cmp.Or(app.CertificateACR, "app-certificate-choice")
	app.SignACR = cmp.Or(app.SignACR, "app-sign-with-certificate")
	app.Hash = cmp.Or(app.Hash, crypto.SHA512)
	app.SignHint = cmp.Or(app.SignHint, HintKennitala)
	sim.ACR = cmp.Or(sim.ACR, "sim-sign-pkcs1")
	sim.CMSACR = cmp.Or(sim.CMSACR, "sim-sign")
	sim.Hash = cmp.Or(sim.Hash, crypto.SHA256)
	sim.Hint = cmp.Or(sim.Hint, HintLocalPhone)
	sim.Text = cmp.Or(sim.Text, codePlaceholder+" "+documentPlaceholder)
	sim.LearnText = cmp.Or(sim.LearnText, codePlaceholder+" Staðfesting fyrir undirritun")
	sim.TextLimit = cmp.Or(sim.TextLimit, maxText)
	if o.Client == nil {
		return o, errors.New("audkenni: the client is missing")
	}
	if strings.ContainsFunc(o.RelatedParty, outsideScope) {
		return o, fmt.Errorf("audkenni: the related party %q must be printable ASCII without spaces, quotation marks and backslashes", o.RelatedParty)
	}
	return o, errors.Join(o.App.check(), o.SIM.check(), checkErrors(o.Errors))
}

// outsideScope reports whether a scope cannot contain a character (RFC 6749 3.3).
func outsideScope(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }

func (a AppOptions) check() error {
	switch {
	case a.LongText != "" && !a.Confirm:
		return errors.New("audkenni: the app shows a long text only if the person must confirm it")
	case a.LongText != "" && !fits(a.LongText, maxLongText):
		return fmt.Errorf("audkenni: the app's long text must be one line of fewer than %d characters, with {document} at most once", maxLongText)
	}
	return errors.Join(checkHash(a.Hash), checkHint(a.SignHint, HintKennitala, HintDocument))
}

func (s SIMOptions) check() error {
	if s.TextLimit > maxLongText {
		return fmt.Errorf("audkenni: the limit of the SIM's text must be at most %d characters", maxLongText)
	}
	for _, text := range []string{s.Text, s.LearnText} {
		if strings.Count(text, codePlaceholder) != 1 || !fits(text, s.TextLimit) {
			return fmt.Errorf("audkenni: the SIM's text must be one line with %s exactly once, of at most %d characters: %q", codePlaceholder, s.TextLimit, text)
		}
	}
	return errors.Join(checkHash(s.Hash), checkHint(s.Hint, HintLocalPhone, HintPhone, HintKennitala))
}

// fits reports whether a template is one line, has at most one {document}, and fits the limit with a code.
func fits(template string, limit int) bool {
	filled := strings.NewReplacer(codePlaceholder, "0000", documentPlaceholder, "").Replace(template)
	return utf8.RuneCountInString(filled) <= limit && singleLine(template) == template && strings.Count(template, documentPlaceholder) <= 1
}

func checkHash(h crypto.Hash) error {
	if h != crypto.SHA256 && h != crypto.SHA384 && h != crypto.SHA512 {
		return fmt.Errorf("audkenni: hash %v is not supported: use SHA-256, SHA-384 or SHA-512", h)
	}
	return nil
}

func checkHint(h Hint, allowed ...Hint) error {
	if !slices.Contains(allowed, h) {
		return fmt.Errorf("audkenni: hint %q must be one of %q", h, allowed)
	}
	return nil
}

// checkErrors returns an error with the text of the first row whose code does not exist, or after whose code clients
// would continue to poll.
func checkErrors(rows map[string]idp.ErrorCode) error {
	for _, text := range slices.Sorted(maps.Keys(rows)) {
		switch code := rows[text]; {
		case text == "":
			return errors.New("audkenni: an entry of the errors has no text")
		case code.Pending():
			return fmt.Errorf("audkenni: errors, %q: after %s the client would continue to poll", text, code)
		case code != "" && !slices.Contains(idp.ErrorCodes(), code):
			return fmt.Errorf("audkenni: errors, %q: %q is not an error code", text, code)
		}
	}
	return nil
}
