package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// signForm is the form to sign the shown document.
type signForm struct {
	Methods  []idp.Method // the default first
	Method   idp.Method
	Phone    string // as entered
	Revision int    // of the shown document
	Fault    string // key of what is wrong with the phone number
	// NotShown has the pages that cannot be shown, of which the person has to confirm that they have read them in the
	// file; empty: none. In a request it has those that the person has confirmed.
	NotShown string
	Missing  bool // the person has not confirmed all of them
}

// NotShownPages returns the pages as a person reads them; empty: the document as a whole.
func (f *signForm) NotShownPages() string { return displayRanges(f.NotShown) }

// Chooses reports whether there is more than one method.
func (f *signForm) Chooses() bool { return len(f.Methods) > 1 }

// AsksPhone reports whether a method needs a phone number.
func (f *signForm) AsksPhone() bool { return slices.Contains(f.Methods, idp.SIM) }

// newSignForm returns a form with the input of the login, or else with the phone number of the invitation, so that a
// person need not enter it twice (WCAG 2.2, 3.3.7). login may be nil.
func newSignForm(methods []idp.Method, view *portal.ParticipantView, revision int, login *personSession) *signForm {
	f := &signForm{Methods: methods, Revision: revision}
	if view.Participant.Kennitala != "" { // without a kennitala, the person may be another than the invited one
		f.Phone = view.Participant.Phone
	}
	if len(methods) > 0 {
		f.Method = methods[0]
	}
	if login == nil {
		return f
	}
	if method := signingMethods[login.Method]; slices.Contains(methods, method) {
		f.Method = method
	}
	if login.Method == SIM {
		f.Phone = login.Hint
	}
	return f
}

// signingMethods are the methods to sign that correspond to methods to log in.
var signingMethods = map[LoginMethod]idp.Method{App: idp.App, SIM: idp.SIM}

// readSignForm reads the form of a request. Errors: errInvalidForm, errFormTooLarge.
func (p *Page) readSignForm(r *http.Request) (*signForm, error) {
	if err := parseForm(r); err != nil {
		return nil, err
	}
	revision, err := strconv.ParseUint(r.PostForm.Get("revision"), 10, 16)
	f := &signForm{
		Methods: p.config.Methods, Method: idp.Method(r.PostForm.Get("method")),
		Phone: r.PostForm.Get("phone"), Revision: int(revision), NotShown: r.PostForm.Get("notshown"),
	}
	if err != nil || !slices.Contains(f.Methods, f.Method) {
		return nil, errInvalidForm
	}
	if _, ok := idp.LocalPhone(f.Phone); f.Method == idp.SIM && !ok {
		f.Fault = "sign.phone.fault"
	}
	return f, nil
}

// request returns the request to the portal.
func (f *signForm) request() portal.SignRequest {
	a := portal.SignRequest{Method: f.Method, Revision: f.Revision, NotShown: f.NotShown}
	if f.Method == idp.SIM {
		a.Phone, _ = idp.LocalPhone(f.Phone)
	}
	return a
}

// sign begins a signature. If that is not possible any more, the page of the participant shows why.
func (p *Page) sign(w http.ResponseWriter, r *http.Request) error {
	view, person, err := p.authorize(r)
	if errors.Is(err, errNoSession) {
		return seeOther(w, r, subjectPath(r))
	}
	if err != nil {
		return err
	}
	form, err := p.readSignForm(r)
	switch {
	case err != nil:
		return err
	case pageStateOf(&view) != stateAsked:
		return seeOther(w, r, pathOf(&view))
	case form.Revision != view.Revision():
		return portal.ErrChanged
	}
	notShown, err := p.notShownNow(r.Context(), &view)
	if err != nil {
		return err
	}
	form.Missing = notShown != "" && form.NotShown != notShown
	if form.NotShown = notShown; form.Missing || form.Fault != "" {
		return p.showDocument(w, r, &view, person, form)
	}
	now, request := p.now(r.Context()), form.request()
	counters := signCounters(&view)
	allow := func(ctx context.Context) error { return p.countAttempt(ctx, now, counters) }
	begin := func(ctx context.Context) (string, error) {
		started, err := p.config.Portal.Sign(ctx, view.ID, view.Participant.ID, request)
		if providerFailed(err) || isLimit(err) {
			p.tryUncount(ctx, now, counters)
		}
		return resultPath(&view, started, err)
	}
	to, err := p.once(r.Context(), nextTurnKey(&view), allow, begin)
	if err != nil {
		return err
	}
	return seeOther(w, r, to)
}

// resultPath returns the page that shows the outcome of a started signature, or an error with a page of its
// own.
func resultPath(view *portal.ParticipantView, started signing.Started, err error) (to string, failed error) {
	var refusal *signing.Refusal
	switch {
	case err == nil:
		return attemptPath(view, started.ID, started.Code), nil
	case errors.As(err, &refusal):
		return pathOf(view) + "?" + refusedQuery + "=" + string(refusal.Code), nil
	case superseded(err):
		return pathOf(view), nil
	case hasProblemPage(err):
		return "", err
	}
	return "", fmt.Errorf("%w: %w", errProviderFailed, err)
}

// hasProblemPage reports whether an error of starting has a page of its own.
func hasProblemPage(err error) bool {
	return errors.Is(err, portal.ErrChanged) || errors.Is(err, portal.ErrNotFound) || isLimit(err) || storage.IsTemporary(err)
}

// providerFailed reports whether the provider gave no answer, or is out of service for everyone.
func providerFailed(err error) bool {
	var refusal *signing.Refusal
	if errors.As(err, &refusal) {
		return refusal.Code == idp.SystemUnderMaintenance || refusal.Code == idp.CommunicationError
	}
	return err != nil && !superseded(err) && !hasProblemPage(err)
}

// superseded reports whether the process has changed meanwhile; the page of the participant shows how.
func superseded(err error) bool {
	return slices.ContainsFunc([]error{
		portal.ErrTurn, portal.ErrAnswered, portal.ErrNotWaiting, portal.ErrViewer, portal.ErrNotLoggedIn,
		signing.ErrFinished,
	}, func(one error) bool { return errors.Is(err, one) })
}

// onceRecord is the record of an action that several requests want at once, as after a double click. The first
// request runs it, and the others lead to its result.
type onceRecord struct {
	To string `json:"to"` // path of the result; empty: not known yet
}

// Times of once.
const (
	onceLease        = 30 * time.Second       // after which the first request's server counts as crashed
	onceResultTime   = 5 * time.Second        // for which the result is also that of later requests
	oncePollInterval = 100 * time.Millisecond // between two reads of the record by a waiting request
)

// nextTurnKey returns the key of the record for a participant's next turn.
func nextTurnKey(view *portal.ParticipantView) []byte {
	return recordKey("begin", fmt.Sprintf("%s/%s/%d", view.ID, view.Participant.ID, view.Turns+1))
}

// once runs do, if allow permits it, unless another request is running it under the same key: then it waits for
// that result. After a failure the next request runs it again. allow joins a transaction.
func (p *Page) once(ctx context.Context, key []byte, allow func(context.Context) error, do func(context.Context) (to string, err error)) (string, error) {
	for {
		to, first, err := p.claim(ctx, key, allow)
		switch {
		case err != nil, to != "":
			return to, err
		case first: // at a second click browsers cancel the first request, which goes on all the same
			return p.runFirst(context.WithoutCancel(ctx), key, do)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(oncePollInterval):
		}
	}
}

// claim returns the path of an earlier result, or first if the caller has to run the action. If neither is set,
// another request is running it.
func (p *Page) claim(ctx context.Context, key []byte, allow func(context.Context) error) (to string, first bool, err error) {
	read := func(ctx context.Context) error {
		found, err := p.config.Store.Record(ctx, key)
		var b onceRecord
		switch {
		case errors.Is(err, storage.ErrNotFound), err == nil && !p.now(ctx).Before(found.Expires):
			first = true
			return nil
		case err == nil:
			err = json.Unmarshal(found.Value, &b)
		}
		to, first = b.To, false
		return err
	}
	if err := read(ctx); err != nil || !first {
		return to, false, err
	}
	err = storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		if err := read(ctx); err != nil || !first {
			return err
		}
		if err := allow(ctx); err != nil {
			return err
		}
		return p.saveOnce(ctx, key, onceRecord{}, onceLease)
	})
	return to, first, err
}

// runFirst runs the action and stores its result for the other requests.
func (p *Page) runFirst(ctx context.Context, key []byte, do func(context.Context) (string, error)) (string, error) {
	to, err := do(ctx)
	saveErr := storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		if err != nil {
			return p.config.Store.DeleteRecord(ctx, key)
		}
		return p.saveOnce(ctx, key, onceRecord{to}, onceResultTime)
	})
	if err == nil && saveErr != nil { // the other requests run it when the record expires
		p.report(ctx, saveErr)
	}
	return to, err
}

// saveOnce stores the record of an action.
func (p *Page) saveOnce(ctx context.Context, key []byte, b onceRecord, lifetime time.Duration) error {
	value, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return p.config.Store.PutRecord(ctx, Record{Key: key, Value: value, Expires: p.now(ctx).Add(lifetime)})
}
