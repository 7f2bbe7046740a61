package page

import (
	"context"
	"errors"
	"net/http"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// beginLogin has the provider ask somebody who they are, or sends the browser there; who has logged in
// already goes on.
func (p *Page) beginLogin(w http.ResponseWriter, r *http.Request) error {
	place, to, err := p.targetOf(r)
	if err != nil {
		return err
	}
	if to.Token != "" && place.Link == portal.Opened {
		return seeOther(w, r, pathOf(&place))
	}
	form, err := p.readLoginForm(r, to.path())
	switch {
	case err != nil:
		return err
	case form.Way == continuing:
		return p.goOn(w, r, to)
	case form.Fault != "" && to.Token != "":
		return p.showLanding(w, r, &place, form)
	case form.Fault != "":
		return p.showLogin(w, r, http.StatusUnprocessableEntity, loginView{Form: form})
	}
	cookie, err := p.startLogin(r, &place, to, form)
	if err != nil {
		return err
	}
	setCookie(w, cookie)
	return seeOther(w, r, loginPath)
}

// targetOf finds the place that a path leads to. [portal.ErrNotFound], errExpired,
// [portal.ErrNotLoggedIn].
func (p *Page) targetOf(r *http.Request) (portal.ParticipantView, target, error) {
	if token := r.PathValue("token"); token != "" {
		place, err := p.linked(r.Context(), token)
		return place, target{Token: token}, err
	}
	to := target{Process: r.PathValue("process"), Participant: r.PathValue("who")}
	place, err := p.config.Portal.ParticipantView(r.Context(), to.Process, to.Participant)
	if err == nil && place.Participant.Person == nil {
		err = portal.ErrNotLoggedIn
	}
	return place, to, err
}

// linked finds the place of a link, opened or not. [portal.ErrNotFound], errExpired.
func (p *Page) linked(ctx context.Context, token string) (portal.ParticipantView, error) {
	place, err := p.config.Portal.LinkView(ctx, token)
	if err == nil && place.Link == portal.LinkExpired {
		err = errExpired
	}
	return place, err
}

// startLogin stores that a login is begun, for the browser with the cookie that it returns, and then
// begins it. A form that is sent several times begins one: the others find it.
func (p *Page) startLogin(r *http.Request, place *portal.ParticipantView, to target, form *loginForm) (cookie string, err error) {
	hint, _ := form.hint()
	a := attempt{For: to, Way: form.Way, Hint: hint, Begun: p.now(r.Context())}
	counters := loginCounters(pathOf(place), &a)
	cookie, lease, err := p.newAttempt(r, a, form.Visit, counters)
	if err != nil || lease == "" {
		return cookie, err
	}
	ctx, cancel := calling(r.Context())
	defer cancel()
	state, called := p.config.Login.Begin(ctx, form.Way, hint)
	p.noteCall(ctx, called)
	ctx = context.WithoutCancel(ctx)
	if outage(called) { // no phone rang
		p.takeBackSoon(ctx, a.Begun, counters)
	}
	_, err = p.answered(ctx, visitKey(cookie), lease, func(v *visit) {
		v.settle(state, nil, called, p.now(ctx))
		if called != nil {
			v.Login.Ended = endOf(called)
		}
	})
	if errors.Is(err, errOvertaken) || errors.Is(err, errNobody) { // a new one was begun, or it was called off
		err = nil
	}
	return cookie, err
}

// newAttempt stores a login that is to be begun under the lease, which is empty when it was begun
// already. It takes the place of what the browser did before. errTooOften.
func (p *Page) newAttempt(r *http.Request, a attempt, form string, counters []counter) (cookie, lease string, err error) {
	before, err := p.visit(r)
	if err != nil && !errors.Is(err, errNobody) {
		return "", "", err
	}
	err = storage.InTx(r.Context(), p.config.Tx, func(ctx context.Context) (err error) {
		lease = ""
		sent, cookieThen, err := p.sentBefore(ctx, form)
		if err != nil {
			return err
		}
		if sent.Login.is(&a) && sent.Login.open() && !sent.Login.over(p.now(ctx)) {
			cookie = cookieThen
			return nil
		}
		if err := p.count(ctx, a.Begun, counters); err != nil {
			return err
		}
		if err := errors.Join(p.forget(ctx, before), p.forget(ctx, sent)); err != nil {
			return err
		}
		if cookie, err = p.sentNow(ctx, form); err != nil {
			return err
		}
		lease = a.take(p.now(ctx))
		return p.save(ctx, visit{key: visitKey(cookie), Until: p.now(ctx).Add(endTime), Login: &a, Seed: newSeed()})
	})
	return cookie, lease, err
}

// goOn has who has logged in take the place of a link. One that somebody has is shown to who has it.
func (p *Page) goOn(w http.ResponseWriter, r *http.Request, to target) error {
	person, err := p.person(r)
	switch {
	case err != nil:
		return err
	case person == nil, to.Token == "":
		return seeOther(w, r, to.path())
	}
	path, err := p.admit(r.Context(), to, *person)
	if err != nil {
		return err
	}
	return seeOther(w, r, path)
}
