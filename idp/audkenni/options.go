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

// Options are what was agreed with Auðkenni. Only Client has to be given.
type Options struct {
	// Client is registered with Auðkenni, for pings if Ping is set and else for polls.
	Client *ciba.Client
	// RelatedParty is the service on whose behalf a broker asks, as Auðkenni knows it.
	RelatedParty string
	App          AppOptions
	SIM          SIMOptions
	// Errors adds to the table of [Errors], or goes before it: [idp.ErrorCodes] by texts, but
	// not those after which polling goes on; "" where the service has no word.
	Errors map[string]idp.ErrorCode
	// AnyName: the name that Auðkenni gives may be written in another way than in the
	// certificate. The kennitala is compared all the same.
	AnyName bool
	// Ping: Auðkenni tells when there is news; see [Provider.Notification].
	Ping bool
}

// AppOptions are those of [idp.App].
type AppOptions struct {
	CertificateACR string      // of the request for the certificate; default "app-certificate-choice"
	SignACR        string      // of that for the signature; default "app-sign-with-certificate"
	Hash           crypto.Hash // of what is signed; default SHA-512
	// SignHint names the person to the request for the signature: HintKennitala (default), or
	// HintDocument for the device that was chosen.
	SignHint Hint
	// ChoiceClaim is a further claim of that request which names the device; default none.
	ChoiceClaim string
	// CodeChoice: the person picks the verification code out of three.
	CodeChoice bool
	// Confirm: the person sees the text in a window of its own, and LongText there if it is
	// given: at most 200 characters, with {document} for the document's name.
	Confirm  bool
	LongText string
}

// SIMOptions are those of [idp.SIM].
type SIMOptions struct {
	ACR    string      // of requests for a signature value; default "sim-sign-pkcs1"
	CMSACR string      // of those for a CMS; default "sim-sign"
	Hash   crypto.Hash // of what is signed; default SHA-256
	Hint   Hint        // names the person: HintLocalPhone (default), HintPhone or HintKennitala
	// CMS: the answer is a whole CMS (RFC 5652), made on the phone's side. Its certificate need not be
	// known before, but it lacks what EN 319 142-1 wants of a PAdES baseline signature.
	CMS bool
	// NoLearning: a person whose certificate is not known is refused, instead of being asked
	// once more to learn it.
	NoLearning bool
	// Text is what the phone shows, with {code} for the verification code and {document} for
	// as much of the document's name as there is room for. Default "{code} {document}".
	Text string
	// LearnText is what it shows while the certificate is learnt; default
	// "{code} Staðfesting fyrir undirritun".
	LearnText string
	// TextLimit is how many characters of both are sent, at most 200; default 60.
	TextLimit int
}

// Hint is what a request names the person by.
type Hint string

const (
	HintKennitala  Hint = "kennitala"   // ten digits
	HintDocument   Hint = "documentNr"  // the device whose certificate was chosen
	HintLocalPhone Hint = "local phone" // seven digits, without what says that they are Icelandic
	HintPhone      Hint = "phone"       // as the client wrote it
)

// complete returns the options with defaults for what they leave open, or what is wrong
// with them.
func (o Options) complete() (Options, error) {
	app, sim := &o.App, &o.SIM
	app.CertificateACR = cmp.Or(app.CertificateACR, "app-certificate-choice")
	app.SignACR = cmp.Or(app.SignACR, "app-sign-with-certificate")
	app.Hash = cmp.Or(app.Hash, crypto.SHA512)
	app.SignHint = cmp.Or(app.SignHint, HintKennitala)
	sim.ACR = cmp.Or(sim.ACR, "sim-sign-pkcs1")
	sim.CMSACR = cmp.Or(sim.CMSACR, "sim-sign")
	sim.Hash = cmp.Or(sim.Hash, crypto.SHA256)
	sim.Hint = cmp.Or(sim.Hint, HintLocalPhone)
	sim.Text = cmp.Or(sim.Text, codePlace+" "+documentPlace)
	sim.LearnText = cmp.Or(sim.LearnText, codePlace+" Staðfesting fyrir undirritun")
	sim.TextLimit = cmp.Or(sim.TextLimit, longest)
	if o.Client == nil {
		return o, errors.New("audkenni: no client")
	}
	if strings.ContainsFunc(o.RelatedParty, notInScope) {
		return o, fmt.Errorf("audkenni: the related party %q cannot be part of a scope", o.RelatedParty)
	}
	return o, errors.Join(o.App.check(), o.SIM.check(), checkErrors(o.Errors))
}

// notInScope: RFC 6749 3.3.
func notInScope(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }

func (a AppOptions) check() error {
	switch {
	case a.LongText != "" && !a.Confirm:
		return errors.New("audkenni: the app shows a long text only where it has to be confirmed")
	case a.LongText != "" && !fits(a.LongText, longestLong):
		return fmt.Errorf("audkenni: the app's long text leaves no room in %d characters, or is not one line", longestLong)
	}
	return errors.Join(checkHash(a.Hash), checkHint(a.SignHint, HintKennitala, HintDocument))
}

func (s SIMOptions) check() error {
	if s.TextLimit > longestLong {
		return fmt.Errorf("audkenni: a SIM's text has at most %d characters", longestLong)
	}
	for _, text := range []string{s.Text, s.LearnText} {
		if strings.Count(text, codePlace) != 1 || !fits(text, s.TextLimit) {
			return fmt.Errorf("audkenni: a SIM's text is one line with %s once that leaves room in %d characters: %q", codePlace, s.TextLimit, text)
		}
	}
	return errors.Join(checkHash(s.Hash), checkHint(s.Hint, HintLocalPhone, HintPhone, HintKennitala))
}

// fits says whether a template is one line that a code leaves room in.
func fits(template string, limit int) bool {
	filled := strings.NewReplacer(codePlace, "0000", documentPlace, "").Replace(template)
	return utf8.RuneCountInString(filled) <= limit && line(template) == template && strings.Count(template, documentPlace) <= 1
}

func checkHash(h crypto.Hash) error {
	if h != crypto.SHA256 && h != crypto.SHA384 && h != crypto.SHA512 {
		return fmt.Errorf("audkenni: hash %v is not one that is signed", h)
	}
	return nil
}

func checkHint(h Hint, allowed ...Hint) error {
	if !slices.Contains(allowed, h) {
		return fmt.Errorf("audkenni: %q names nobody here; what does is one of %q", h, allowed)
	}
	return nil
}

// checkErrors names the first row, by its text, that clients could not understand or that would
// keep them polling.
func checkErrors(rows map[string]idp.ErrorCode) error {
	for _, text := range slices.Sorted(maps.Keys(rows)) {
		switch code := rows[text]; {
		case text == "":
			return errors.New("audkenni: a row of the errors has no text")
		case code.Pending():
			return fmt.Errorf("audkenni: row %q of the errors: %s is no end", text, code)
		case code != "" && !slices.Contains(idp.ErrorCodes(), code):
			return fmt.Errorf("audkenni: row %q of the errors: there is no code %q", text, code)
		}
	}
	return nil
}
