package pades

import (
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Options are what a signature says beside who signed. The zero value is right.
type Options struct {
	Name        string    // /Name: who signs
	Reason      string    // /Reason
	Location    string    // /Location
	ContactInfo string    // /ContactInfo
	Time        time.Time // /M, the claimed signing time, within the signer's certificate; zero: now

	// Level is what the signature is to become. From T on there is room in it for the
	// timestamp that [Pending.Complete] puts in; the rest is for an [Extender]. A document that
	// does not take the rest is refused at once.
	Level ades.Level

	// Field is the fully qualified name of the empty signature field to sign, else
	// [ErrField]. Its lock becomes part of the signature, and what its seed value
	// requires is [ades.ErrForbidden] unless it is so: nothing is chosen in its favour.
	// "": a new field.
	Field string
	// Appearance is a PDF of one page that is drawn in Field's rectangle, else
	// [ErrAppearance]: not encrypted, at most 8 MiB with all that the page uses. Its
	// fonts, colours and transparency come along as they are, so that what is to stay
	// PDF/A needs a page that is. nil: nothing is drawn, and what the author has drawn
	// there stays.
	Appearance []byte
	// Visible is where a new field is shown, and what is drawn there. It goes with no
	// Field. nil: a new field is invisible, on the first page.
	Visible *Visible
	// Certify makes the signature a certification: it says what may be done to the
	// document later, and has to be its first signature, else [ades.ErrForbidden]. 0: an
	// approval signature.
	Certify Permission
}

// check refuses options that contradict themselves.
func (o Options) check() error {
	switch {
	case o.Visible != nil && o.Field != "":
		return errors.New("pades: an existing field is where it is, and a place for a new one is given")
	case o.Appearance != nil && o.Visible != nil:
		return errors.New("pades: what is drawn in a place is Visible.Appearance")
	case o.Appearance != nil && o.Field == "":
		return errors.New("pades: an appearance is drawn in an existing field, and none is named")
	case o.Certify < 0 || o.Certify > Annotations:
		return fmt.Errorf("pades: certifying with the unknown permission %d", o.Certify)
	}
	if o.Visible != nil {
		if err := o.Visible.Rect.check(); err != nil {
			return err
		}
	}
	return checkLevel(o.Level)
}

func checkLevel(l ades.Level) error {
	if l < ades.B || l > ades.LTA {
		return fmt.Errorf("pades: unknown level %v", l)
	}
	return nil
}
