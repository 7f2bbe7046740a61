package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/innsigli/innsigli/storage"
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

// logout ends the visit of a browser, whose cookie is worth nothing then.
func (p *Page) logout(w http.ResponseWriter, r *http.Request) error {
	v, err := p.visit(r)
	if err == nil {
		err = p.forget(r.Context(), v)
	}
	if err != nil && !errors.Is(err, errNobody) {
		return err
	}
	setCookie(w, "")
	return seeOther(w, r, afterLogout(r))
}

// forget ends a visit, the login that it came from, and the visit that came from it: whichever of their
// cookies somebody has. It joins the transaction.
func (p *Page) forget(ctx context.Context, v visit) error {
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		for _, key := range [][]byte{v.key, v.Before, v.After} {
			if key == nil {
				continue
			}
			if err := p.config.Store.DeleteRecord(ctx, key); err != nil {
				return fmt.Errorf("page: ending a visit: %w", err)
			}
		}
		return nil
	})
}
