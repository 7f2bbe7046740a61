package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/innsigli/innsigli/internal/promptlimit"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// beginLogin begins a login for the page of a link or a participant. A person who has logged in already
// continues.
func (p *Page) beginLogin(w http.ResponseWriter, r *http.Request) error {
	view, to, err := p.loginTarget(r)
	if err != nil {
		return err
	}
	if to.Token != "" && view.Link == portal.Opened {
		return seeOther(w, r, pathOf(&view))
	}
	form, err := p.readLoginForm(r, to.path())
	switch {
	case err != nil:
		return err
	case form.Method == continueMethod:
		return p.continueAsPerson(w, r, to)
	case form.Fault != "" && to.Token != "":
		return p.showLanding(w, r, &view, form)
	case form.Fault != "":
		return p.showLogin(w, r, http.StatusUnprocessableEntity, loginView{Form: form})
	}
	cookie, err := p.startLogin(r, &view, to, form)
	if err != nil {
		return err
	}
	setCookie(w, cookie)
	return seeOther(w, r, loginPath)
}

// loginTarget returns the participant that the path names. Errors: [portal.ErrNotFound], errLinkExpired,
// [portal.ErrNotLoggedIn].
func (p *Page) loginTarget(r *http.Request) (portal.ParticipantView, target, error) {
	if token := r.PathValue("token"); token != "" {
		view, err := p.linkView(r.Context(), token)
		return view, target{Token: token}, err
	}
	to := target{Process: r.PathValue("process"), Participant: r.PathValue("who")}
	view, err := p.config.Portal.ParticipantView(r.Context(), to.Process, to.Participant)
	if err == nil && view.Participant.Person == nil {
		err = portal.ErrNotLoggedIn
	}
	return view, to, err
}

// linkView returns the participant of a link, opened or not. Errors: [portal.ErrNotFound], errLinkExpired.
func (p *Page) linkView(ctx context.Context, token string) (portal.ParticipantView, error) {
	view, err := p.config.Portal.LinkView(ctx, token)
	if err == nil && view.Link == portal.LinkExpired {
		err = errLinkExpired
	}
	return view, err
}

// startLogin stores an attempt, calls the provider, and returns the cookie of the login's session. A form that
// is sent several times begins one login; all of its requests get the same cookie.
func (p *Page) startLogin(r *http.Request, view *portal.ParticipantView, to target, form *loginForm) (cookie string, err error) {
	hint, _ := form.hint()
	a := attempt{Target: to, Method: form.Method, Hint: hint, Begun: p.now(r.Context())}
	counters, prompt := loginCounters(pathOf(view), &a), loginPrompt(view, &a)
	cookie, lease, err := p.recordAttempt(r, a, form.ID, counters, prompt)
	if err != nil || lease == "" {
		return cookie, err
	}
	ctx, cancel := providerContext(r.Context())
	defer cancel()
	state, callErr := p.config.Login.Begin(ctx, form.Method, hint)
	p.reportOutage(ctx, callErr)
	ctx = context.WithoutCancel(ctx)
	if isOutage(callErr) || isLimit(callErr) {
		p.tryUncountLogin(ctx, &a, counters, prompt, callErr)
	}
	_, err = p.storeResult(ctx, sessionKey(cookie), lease, func(l *loginSession) {
		l.recordResult(state, nil, callErr, p.now(ctx))
		if callErr != nil {
			l.Attempt.Ended = endKey(callErr)
		}
	})
	if errors.Is(err, errLeaseLost) || errors.Is(err, errNoSession) { // another login has begun, or this one was cancelled
		err = nil
	}
	return cookie, err
}

// recordAttempt stores an attempt with a lease, which is empty if the form has begun a login already. It
// replaces the browser's earlier session. [*idp.TooManyRequestsError].
func (p *Page) recordAttempt(r *http.Request, a attempt, form string, counters []counter, prompt promptlimit.Prompt) (cookie, lease string, err error) {
	current, err := p.sessionOf(r)
	if err != nil && !errors.Is(err, errNoSession) {
		return "", "", err
	}
	err = storage.InTx(r.Context(), p.config.Tx, func(ctx context.Context) (err error) {
		lease = ""
		submitted, submittedCookie, err := p.findSubmission(ctx, form)
		if err != nil && !errors.Is(err, errNoSession) {
			return err
		}
		if l := submitted.asLogin(); l != nil && l.Attempt.sameForm(&a) && l.Attempt.pending() && !l.Attempt.abandoned(p.now(ctx)) {
			cookie = submittedCookie
			return nil
		}
		if err := p.countAttempt(ctx, a.Begun, counters); err != nil {
			return err
		}
		if err := p.config.Prompts.Count(ctx, a.Begun, prompt); err != nil {
			return err
		}
		if err := errors.Join(p.deleteSession(ctx, current), p.deleteSession(ctx, submitted)); err != nil {
			return err
		}
		if cookie, err = p.recordSubmission(ctx, form); err != nil {
			return err
		}
		lease = a.acquire(p.now(ctx))
		login := loginSession{EndsBy: p.now(ctx).Add(attemptLifetime), Attempt: &a, Seed: newSeed()}
		return p.saveSession(ctx, session{key: sessionKey(cookie), record: &login})
	})
	return cookie, lease, err
}

// continueAsPerson opens a link as the person who has logged in with the browser.
func (p *Page) continueAsPerson(w http.ResponseWriter, r *http.Request, to target) error {
	person, err := p.loggedInPerson(r)
	switch {
	case err != nil:
		return err
	case person == nil, to.Token == "":
		return seeOther(w, r, to.path())
	}
	path, err := p.openTarget(r.Context(), to, *person)
	if err != nil {
		return err
	}
	return seeOther(w, r, path)
}

// findSubmission returns the session that an earlier submission of the form began, and its cookie. It returns errNoSession
// if there is none, or if it has expired.
func (p *Page) findSubmission(ctx context.Context, form string) (s session, cookie string, err error) {
	record, err := p.config.Store.Record(ctx, recordKey("form", form))
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && !p.now(ctx).Before(record.Expires):
		return session{}, "", errNoSession
	case err != nil:
		return session{}, "", fmt.Errorf("page: reading a form's submission: %w", err)
	}
	cookie = deriveCookie(record.Value, form)
	s, err = p.loadSession(ctx, sessionKey(cookie))
	return s, cookie, err
}

// recordSubmission returns a new cookie for the session that a form begins. It differs from the form's ID,
// which is in the page. It joins the transaction.
func (p *Page) recordSubmission(ctx context.Context, form string) (cookie string, err error) {
	seed := newSeed()
	err = p.config.Store.PutRecord(ctx, Record{Key: recordKey("form", form), Value: seed, Expires: p.now(ctx).Add(formWindow)})
	if err != nil {
		return "", fmt.Errorf("page: storing a form's submission: %w", err)
	}
	return deriveCookie(seed, form), nil
}
