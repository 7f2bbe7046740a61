package page

import (
	"context"
	"errors"
	"net/http"
)

// endLogin calls a login off. What the person still answers on the phone is answered to nobody.
func (p *Page) endLogin(w http.ResponseWriter, r *http.Request) error {
	v, err := p.visit(r)
	switch {
	case errors.Is(err, errNobody):
		return seeOther(w, r, goodbyePath)
	case err != nil:
		return err
	case v.Login == nil: // who is there was found out meanwhile
		return seeOther(w, r, v.To)
	}
	if err := p.forget(r.Context(), v); err != nil {
		return err
	}
	setCookie(w, "")
	return seeOther(w, r, v.Login.For.path())
}

// logout ends the visit of a browser, whose cookie is worth nothing then, nor is the one with which the
// person logged in.
func (p *Page) logout(w http.ResponseWriter, r *http.Request) error {
	v, err := p.visit(r)
	if err == nil {
		err = p.forget(r.Context(), v)
	}
	if err != nil && !errors.Is(err, errNobody) {
		return err
	}
	setCookie(w, "")
	return seeOther(w, r, goodbyePath)
}

func (p *Page) forget(ctx context.Context, v visit) error {
	return p.config.Tx.InTx(ctx, func(ctx context.Context) error {
		err := p.config.Store.DeleteRecord(ctx, v.key)
		if err == nil && v.Before != nil {
			err = p.config.Store.DeleteRecord(ctx, v.Before)
		}
		return err
	})
}

// goodbye is the page of who has logged out.
func (p *Page) goodbye(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, view{file: "goodbye.html", title: "goodbye.title"})
}
