package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

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

// newSignForm has what is known of the person: from the login of a visit, and before that from the
// invitation. Nobody is to enter again what they have entered before (WCAG 2.2, 3.3.7).
func newSignForm(methods []idp.Method, place *portal.ParticipantView, revision int, v visit) *signForm {
	f := &signForm{Methods: methods, Revision: revision}
	if place.Participant.Kennitala != "" { // whoever takes a place that is anybody's may be another than was invited
		f.Phone = place.Participant.Phone
	}
	if len(methods) > 0 {
		f.Method = methods[0]
	}
	if method := methodOf[v.Way]; slices.Contains(methods, method) {
		f.Method = method
	}
	if v.Way == SIM {
		f.Phone = v.Hint
	}
	return f
}

// methodOf is how who has logged in would be asked to sign in the same way.
var methodOf = map[Way]idp.Method{App: idp.App, SIM: idp.SIM}

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
	if _, ok := idp.LocalPhone(f.Phone); f.Method == idp.SIM && !ok {
		f.Fault = "sign.phone.fault"
	}
	return f, nil
}

func (f *signForm) ask() portal.SignRequest {
	a := portal.SignRequest{Method: f.Method, Revision: f.Revision}
	if f.Method == idp.SIM {
		a.Phone, _ = idp.LocalPhone(f.Phone)
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
	at, ask := p.now(r.Context()), form.ask()
	counters := signCounters(&place, person.Kennitala, ask)
	may := func(ctx context.Context) error { return p.count(ctx, at, counters) }
	begin := func(ctx context.Context) (string, error) {
		started, err := p.config.Portal.Sign(ctx, place.ID, place.Participant.ID, ask)
		if noAnswer(err) {
			p.takeBackSoon(ctx, at, counters)
		}
		return leadsTo(&place, started, err)
	}
	to, err := p.once(r.Context(), beginKey(&place), may, begin)
	if err != nil {
		return err
	}
	return seeOther(w, r, to)
}

// leadsTo says which page tells what comes of a start.
func leadsTo(place *portal.ParticipantView, started signing.Started, err error) (to string, failed error) {
	var refusal *signing.Refusal
	switch {
	case err == nil:
		return attemptPath(place, started.ID, started.Code), nil
	case errors.As(err, &refusal):
		return pathOf(place) + "?" + refusedQuery + "=" + string(refusal.Code), nil
	case overtaken(err):
		return pathOf(place), nil
	case known(err):
		return "", err
	}
	return "", fmt.Errorf("%w: %w", errProvider, err)
}

// known says whether an error has a page of its own.
func known(err error) bool {
	return errors.Is(err, portal.ErrChanged) || errors.Is(err, portal.ErrNotFound) || storage.IsTemporary(err)
}

// noAnswer says whether a start failed since the provider did not answer, or is not there for anybody.
func noAnswer(err error) bool {
	var refusal *signing.Refusal
	if errors.As(err, &refusal) {
		return refusal.Code == idp.SystemUnderMaintenance || refusal.Code == idp.CommunicationError
	}
	return err != nil && !overtaken(err) && !known(err)
}

// overtaken says whether something else has happened before, which the participant's page tells.
func overtaken(err error) bool {
	return slices.ContainsFunc([]error{
		portal.ErrTurn, portal.ErrAnswered, portal.ErrNotWaiting, portal.ErrViewer, portal.ErrNotLoggedIn,
		signing.ErrFinished,
	}, func(one error) bool { return errors.Is(err, one) })
}
