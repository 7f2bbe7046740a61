package page

import (
	"context"
	"net/http"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// faulty is a store that is away for one transaction, of which it may be unknown whether it was
// committed; or after which the server is gone.
type faulty struct {
	storage.Transactor
	left      int // transactions until then
	committed bool
}

func (f *faulty) InTx(ctx context.Context, fn func(context.Context) error) error {
	f.left--
	switch {
	case f.left != 0:
		return f.Transactor.InTx(ctx, fn)
	case f.committed:
		if err := f.Transactor.InTx(ctx, fn); err != nil {
			return err
		}
	}
	return storage.ErrUnavailable
}

// forgetful is a portal whose answer to one login is lost.
type forgetful struct {
	Portal
	lost bool
}

func (f *forgetful) Login(ctx context.Context, token string, who portal.Person) (process, participant string, err error) {
	process, participant, err = f.Portal.Login(ctx, token, who)
	if !f.lost {
		f.lost = true
		return "", "", storage.ErrUnavailable
	}
	return process, participant, err
}

// Whatever is not stored, or stored and not known to be, who tries again comes to the page.
func TestLoginSurvivesWhatIsLost(t *testing.T) {
	testenv.Slow(t, "each answer is lost once")
	t.Parallel()
	for _, committed := range []bool{false, true} {
		for n := 1; n <= 8; n++ {
			inTime(t, func(t *testing.T, d *door) {
				d.page.config.Tx = &faulty{d.db, n, committed}
				if tries := d.tryToLogIn(); tries > 3 {
					t.Errorf("transaction %d, committed %v: it took %d tries", n, committed, tries)
				}
			})
		}
	}
	inTime(t, func(t *testing.T, d *door) {
		d.page.config.Portal = &forgetful{Portal: d.portal}
		if tries := d.tryToLogIn(); tries > 1 || !d.page.config.Portal.(*forgetful).lost {
			t.Errorf("it took %d tries", tries)
		}
	})
}

// tryToLogIn does what people do whose page does not come: it loads it again, and begins anew where the
// page says so. It says how often that was.
func (d *door) tryToLogIn() (tries int) {
	d.t.Helper()
	d.phones.answer(annas, reply{who: anna})
	b := d.tab()
	for tries = 1; tries < 10; tries++ {
		a := b.open(d.link(0))
		visit := visitIn(a.body)
		for range 3 {
			if a.location != loginPath {
				a = b.post(d.link(0)+"/login", "way", "app", "kennitala", annas, "visit", visit)
			}
		}
		for range 5 {
			time.Sleep(leaseDuration)
			switch a = b.get(loginPath); {
			case a.status == http.StatusSeeOther:
				if b.get(a.location).has("place.asked.title") {
					return tries
				}
			case a.status == http.StatusForbidden:
			default:
				continue
			}
			break
		}
	}
	return tries
}
