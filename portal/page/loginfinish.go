package page

import (
	"context"
	"errors"
	"net/http"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// finish leads on who has logged in, with the cookie of another visit, so that what somebody may have
// seen of the one before is worth nothing. For a minute it does so again, with the same cookie, for a
// browser that the answer did not come to, or that has asked in two tabs.
func (p *Page) finish(w http.ResponseWriter, r *http.Request, v visit) (err error) {
	cookie := cookieFrom(v.Seed, cookieOf(r))
	if v.After == nil {
		v, err = p.arrive(r.Context(), v, visitKey(cookie))
	}
	if errors.Is(err, portal.ErrOtherPerson) {
		v.Login.Ended = "ended.other"
		return p.showEnded(w, r, v.Login)
	}
	if err != nil {
		return err
	}
	setCookie(w, cookie)
	return seeOther(w, r, v.To)
}

// arrive has the person of a login take the place, and stores a visit of theirs with a key.
func (p *Page) arrive(ctx context.Context, login visit, key []byte) (visit, error) {
	path, err := p.admit(ctx, login.Login.For, *login.Login.Person)
	if err != nil {
		return login, err
	}
	now := p.now(ctx)
	after := visit{
		key: key, Person: login.Login.Person, Until: now.Add(longest), To: path, Before: login.key,
		Way: login.Login.Way, Hint: login.Login.Hint,
	}
	err = storage.InTx(ctx, p.config.Tx, func(ctx context.Context) (err error) {
		if login, err = p.load(ctx, after.Before); err != nil || login.After != nil { // another tab was faster
			return err
		}
		login.After, login.To = key, path
		if end := now.Add(doneTime); end.Before(login.Until) {
			login.Until = end
		}
		if err := p.takeBack(ctx, login.Login.Begun, counter{inVain, path}); err != nil {
			return err
		}
		if err := p.save(ctx, login); err != nil {
			return err
		}
		return p.save(ctx, after)
	})
	return login, err
}

// admit has a person take the place that they have logged in for, and says where it is.
func (p *Page) admit(ctx context.Context, to target, who portal.Person) (path string, err error) {
	process, participant := to.Process, to.Participant
	if to.Token != "" {
		process, participant, err = p.config.Portal.Login(ctx, to.Token, who)
	} else {
		err = p.config.Portal.LoginAgain(ctx, process, participant, who)
	}
	return placePath(process, participant), err
}
