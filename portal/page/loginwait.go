package page

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// waitForLogin is the page of a login under way: it shows what to do on the phone, sends the browser to
// the provider, and leads on when it is known who is there.
func (p *Page) waitForLogin(w http.ResponseWriter, r *http.Request) error {
	v, err := p.visit(r)
	if err == nil && v.Login != nil && v.Login.Way != Browser {
		v, err = p.poll(r.Context(), v)
	}
	if err != nil {
		return err
	}
	if v.Login == nil { // another tab was faster
		return p.lead(w, r, v.To)
	}
	a, now := v.Login, p.now(r.Context())
	if a.over(now) {
		a.Ended = "ended.outage"
	}
	switch {
	case wantsNews(r):
		return writeNews(w, http.StatusOK, placeNews{a.stage(), loginPath})
	case a.Ended != "":
		return p.showEnded(w, r, a)
	case a.Person != nil:
		return p.finish(w, r, v)
	case a.State != nil && a.Way == Browser && !a.held(now):
		return p.send(w, r, v)
	}
	return p.showWaiting(w, r, a)
}

// lead leads to a page, also a script.
func (p *Page) lead(w http.ResponseWriter, r *http.Request, to string) error {
	if wantsNews(r) {
		return writeNews(w, http.StatusOK, placeNews{"done", to})
	}
	return seeOther(w, r, to)
}

// stage is what the script of the page is told.
func (a *attempt) stage() string {
	switch {
	case a.Ended != "":
		return "failed"
	case a.Person != nil:
		return "done"
	case a.State == nil:
		return "asking"
	}
	return "waiting"
}

// poll asks the provider whether the person has answered, if it is time and nobody else does.
func (p *Page) poll(ctx context.Context, v visit) (visit, error) {
	due := func(a *attempt, now time.Time) bool {
		return a != nil && a.State != nil && a.open() && !now.Before(a.Next)
	}
	if !due(v.Login, p.now(ctx)) {
		return v, nil
	}
	ctx, cancel := calling(ctx)
	defer cancel()
	var lease string
	v, err := p.change(ctx, v.key, func(v *visit) error {
		if lease = ""; due(v.Login, p.now(ctx)) {
			lease = v.Login.take(p.now(ctx))
		}
		return nil
	})
	if err != nil || lease == "" {
		return v, err
	}
	state, person, called := p.config.Login.Poll(ctx, *v.Login.State)
	p.noteCall(ctx, called)
	settled, err := p.answered(context.WithoutCancel(ctx), v.key, lease, func(v *visit) { v.settle(state, person, called, p.now(ctx)) })
	if errors.Is(err, errOvertaken) {
		return v, nil
	}
	return settled, err
}

// waitView is what to do on the phone.
type waitView struct {
	Code    string // empty: the phone shows none, or the provider is still being asked
	Asking  bool
	Trouble bool
	Way     Way
	Until   string // "15:04:05"; empty: not known yet
}

const (
	waitRefresh = 3 // seconds
	askRefresh  = 1
)

func (p *Page) showWaiting(w http.ResponseWriter, r *http.Request, a *attempt) error {
	v := waitView{Asking: a.State == nil || a.Way == Browser, Trouble: a.Trouble, Way: a.Way}
	title, refresh := "login.title", askRefresh
	if !v.Asking {
		title = "wait.title"
		v.Code, v.Until = a.State.Code, a.State.Expires.UTC().Format(time.TimeOnly)
		refresh = max(waitRefresh, int((a.State.Interval+time.Second-1)/time.Second))
	}
	return p.show(w, r, view{file: "wait.html", title: title, refresh: refresh, data: v})
}

// redirectView leads to the provider's pages.
type redirectView struct{ To string }

// send sends the browser to the provider: at once the first time, and by a link when it comes back from
// there without an answer. It is a page of its own, since a form may lead to this server alone
// (form-action of the Content-Security-Policy), and a redirect would be part of its answer.
func (p *Page) send(w http.ResponseWriter, r *http.Request, v visit) error {
	a := v.Login
	if !a.Sent {
		_, err := p.change(r.Context(), v.key, func(v *visit) error {
			if v.Login != nil {
				v.Login.Sent = true
			}
			return nil
		})
		if err != nil {
			return err
		}
		w.Header().Set("Refresh", "0; url="+a.State.Redirect)
	}
	return p.show(w, r, view{file: "redirect.html", title: "redirect.title", data: redirectView{a.State.Redirect}})
}

// endStatus is that of pages that say more than that somebody has not logged in.
var endStatus = map[string]int{"ended.other": http.StatusForbidden, "ended.outage": http.StatusBadGateway}

// showEnded says why a login has come to nothing, and how to begin another.
func (p *Page) showEnded(w http.ResponseWriter, r *http.Request, a *attempt) error {
	next := "ended.again"
	if a.Ended == "ended.other" {
		next = "ended.another"
	}
	return p.show(w, r, view{status: endStatus[a.Ended], file: "problem.html", title: a.Ended + ".title", data: problemView{
		Key: a.Ended, Next: next, To: a.For.path(), Contact: p.config.Operator.Contact,
	}})
}
