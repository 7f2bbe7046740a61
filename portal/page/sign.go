package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// signForm asks how the person is to be reached, for the document as it is shown.
type signForm struct {
	Methods  []idp.Method // the usual one first
	Method   idp.Method
	Phone    string // as the person wrote it
	Revision int    // of the document that is shown
	Fault    string // key of what is wrong with the phone number
}

// Chooses says whether there is more than one method.
func (f *signForm) Chooses() bool { return len(f.Methods) > 1 }

// AsksPhone says whether a phone number may be needed.
func (f *signForm) AsksPhone() bool { return slices.Contains(f.Methods, idp.SIM) }

func newSignForm(methods []idp.Method, place *portal.Place, revision int) *signForm {
	f := &signForm{Methods: methods, Phone: place.Participant.Phone, Revision: revision}
	if len(methods) > 0 {
		f.Method = methods[0]
	}
	return f
}

// readSignForm reads what the person sent. errForm, errTooLong.
func (p *Page) readSignForm(r *http.Request) (*signForm, error) {
	if err := readForm(r); err != nil {
		return nil, err
	}
	revision, err := strconv.ParseUint(r.PostForm.Get("revision"), 10, 16)
	f := &signForm{
		Methods: p.config.Methods, Method: idp.Method(r.PostForm.Get("method")),
		Phone: r.PostForm.Get("phone"), Revision: int(revision),
	}
	if err != nil || !slices.Contains(f.Methods, f.Method) {
		return nil, errForm
	}
	if _, ok := localPhone(f.Phone); f.Method == idp.SIM && !ok {
		f.Fault = "sign.phone.fault"
	}
	return f, nil
}

func (f *signForm) ask() portal.Ask {
	a := portal.Ask{Method: f.Method, Revision: f.Revision}
	if f.Method == idp.SIM {
		a.Phone, _ = localPhone(f.Phone)
	}
	return a
}

// sign has the person asked on the phone. What cannot be begun, since something has come before it, the
// participant's page tells.
func (p *Page) sign(w http.ResponseWriter, r *http.Request) error {
	place, person, err := p.visitor(r)
	if errors.Is(err, errNobody) {
		return seeOther(w, r, home(r))
	}
	if err != nil {
		return err
	}
	form, err := p.readSignForm(r)
	switch {
	case err != nil:
		return err
	case situationOf(&place) != asked:
		return seeOther(w, r, pathOf(&place))
	case form.Revision != place.Revision():
		return portal.ErrChanged
	case form.Fault != "":
		return p.showPlace(w, r, &place, person, form)
	}
	may := func(ctx context.Context) error { return p.count(ctx, place.Participant.ID, person.Kennitala) }
	begin := func(ctx context.Context) (string, error) { return p.begin(ctx, &place, form.ask()) }
	to, err := p.once(r.Context(), beginKey(&place), may, begin)
	if err != nil {
		return err
	}
	return seeOther(w, r, to)
}

// begin has the person asked, and says which page tells what comes of it.
func (p *Page) begin(ctx context.Context, place *portal.Place, a portal.Ask) (to string, err error) {
	started, err := p.config.Portal.Sign(ctx, place.ID, place.Participant.ID, a)
	var refusal *signing.Refusal
	switch {
	case err == nil:
		return attemptPath(place, started.ID, started.Code), nil
	case errors.As(err, &refusal):
		return pathOf(place) + "?" + refusedQuery + "=" + string(refusal.Code), nil
	case overtaken(err):
		return pathOf(place), nil
	case errors.Is(err, portal.ErrChanged), errors.Is(err, portal.ErrNotFound), storage.Passing(err):
		return "", err
	}
	return "", fmt.Errorf("%w: %w", errProvider, err)
}

// overtaken says whether something else has happened before, which the participant's page tells.
func overtaken(err error) bool {
	return slices.ContainsFunc([]error{
		portal.ErrTurn, portal.ErrAnswered, portal.ErrNotWaiting, portal.ErrViewer, portal.ErrNotLoggedIn,
		signing.ErrFinished,
	}, func(one error) bool { return errors.Is(err, one) })
}

// localPhone is a number in Iceland, where numbers have seven digits, without what people write
// between and before them.
func localPhone(text string) (digits string, ok bool) {
	digits = strings.NewReplacer(" ", "", "-", "", "\u00a0", "").Replace(text)
	for _, iceland := range []string{"+354", "00354"} {
		digits = strings.TrimPrefix(digits, iceland)
	}
	return digits, len(digits) == 7 && strings.Trim(digits, "0123456789") == ""
}
