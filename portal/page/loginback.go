package page

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// backFromProvider reads the answer that a browser brings from the provider's pages. It counts for the
// login under way in the same browser, once; what else comes here changes nothing.
func (p *Page) backFromProvider(w http.ResponseWriter, r *http.Request) error {
	v, err := p.visit(r)
	if err != nil {
		return err
	}
	ctx, cancel := calling(r.Context())
	defer cancel()
	var lease string
	v, err = p.change(ctx, v.key, func(v *visit) error {
		lease = ""
		if a, now := v.Login, p.now(ctx); a != nil && a.mayBeFor(r.URL.Query()) && a.open() && !a.held(now) {
			lease = a.take(now)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if lease == "" {
		return seeOther(w, r, loginPath)
	}
	person, called := p.config.Login.Finish(ctx, *v.Login.State, r.URL.Query())
	p.noteCall(ctx, called)
	_, err = p.answered(context.WithoutCancel(ctx), v.key, lease, func(v *visit) { v.finish(person, called, p.now(ctx)) })
	if err != nil && !errors.Is(err, errOvertaken) {
		return err
	}
	return seeOther(w, r, loginPath)
}

// mayBeFor says whether an answer may be one to the login: a link on another site is not to end it. The
// state of the request is in the address that the browser was sent to (RFC 6749 4.1.1), unless it was
// handed to the provider before.
func (a *attempt) mayBeFor(answer url.Values) bool {
	if a.Way != Browser || a.State == nil {
		return false
	}
	asked, err := url.Parse(a.State.Redirect)
	return err == nil && (!asked.Query().Has("state") || asked.Query().Get("state") == answer.Get("state"))
}

// finish notes what the provider answered: the login is over, one way or the other, since its code is
// good for one call (RFC 6749 4.1.2). What was no answer to it leaves it as it was.
func (v *visit) finish(person portal.Person, err error, now time.Time) {
	if errors.Is(err, ErrForeignAnswer) {
		v.Login.Lease = ""
		return
	}
	if err != nil {
		v.settle(*v.Login.State, nil, err, now)
		v.Login.Ended = endOf(err)
		return
	}
	v.settle(*v.Login.State, &person, nil, now)
}
