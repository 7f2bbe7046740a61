package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// sent begins a login on the provider's pages, and returns the state that the browser takes there.
func (b *tab) sent(page string) (state string) {
	b.d.t.Helper()
	a := b.begin(page, "way", "browser")
	if a.location != loginPath {
		b.d.t.Fatal(a.status, a.location, a.text())
	}
	b.get(loginPath).says(b.d.t, 200, "redirect.text", "redirect.go")
	to, ok := strings.CutPrefix(b.last.Get("Refresh"), "0; url="+providersPage)
	if !ok {
		b.d.t.Fatal(b.last)
	}
	return to
}

// back is how the provider sends the browser back: from another site.
func (b *tab) back(state, code string) answer {
	query := url.Values{"state": {state}, "code": {code}}
	b.header["Sec-Fetch-Site"] = "cross-site"
	defer func() { b.header["Sec-Fetch-Site"] = "same-origin" }()
	return b.get(backPath + "?" + query.Encode())
}

// Who logs in on the provider's pages comes back to the place.
func TestLoginOnTheProvidersPages(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.phones.answer("annas", reply{who: anna})
	b := d.tab()
	state := b.sent(d.link(0))
	// who goes back is not sent there again without being asked
	b.get(loginPath).says(t, 200, "redirect.go")
	if b.last.Get("Refresh") != "" {
		t.Error(b.last)
	}
	before := b.cookie()
	a := b.back(state, "annas")
	if a.location != loginPath {
		t.Fatal(a.status, a.location, a.text())
	}
	if a := b.get(loginPath); a.location != of(d.made, 0) || b.cookie() == before {
		t.Error(a.status, a.location)
	}
	// the same address once more, as by the browser's buttons, leads to where it led
	if a := b.follow(b.back(state, "annas")); a.status != 200 || !a.has("place.asked.title") {
		t.Error(a.status, a.text())
	}
}

// What does not belong to the login in the same browser admits nobody.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	for name, try := range map[string]func(d *door, b *tab, state string) (*tab, answer){
		"another login's state": func(d *door, b *tab, state string) (*tab, answer) {
			return b, b.back(d.tab().sent(d.link(0)), "annas")
		},
		"no state": func(d *door, b *tab, state string) (*tab, answer) { return b, b.back("", "annas") },
		"another browser, which has begun none": func(d *door, b *tab, state string) (*tab, answer) {
			other := d.tab()
			return other, other.back(state, "annas")
		},
		"another browser, which has begun one": func(d *door, b *tab, state string) (*tab, answer) {
			other := d.tab()
			other.sent(d.link(0))
			return other, other.back(state, "annas")
		},
		"a login that was called off": func(d *door, b *tab, state string) (*tab, answer) {
			b.post("/sign/login/end")
			return b, b.back(state, "annas")
		},
		"a code of nobody": func(d *door, b *tab, state string) (*tab, answer) { return b, b.back(state, "nobody") },
		"one that was refused before": func(d *door, b *tab, state string) (*tab, answer) {
			b.back(state, "nobody")
			return b, b.back(state, "annas")
		},
		"a login on the phone": func(d *door, b *tab, state string) (*tab, answer) {
			b.begin(d.link(0), "way", "app", "kennitala", jons)
			return b, b.back(state, "annas")
		},
		"the person whose place it is not": func(d *door, b *tab, state string) (*tab, answer) { return b, b.back(state, "jons") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			d.phones.answer("annas", reply{who: anna})
			d.phones.answer("jons", reply{who: jon})
			d.phones.answer("nobody", reply{err: ErrRefusedLogin})
			b := d.tab()
			b, a := try(d, b, b.sent(d.link(0)))
			b.follow(a)
			if a := b.get(of(d.made, 0)); a.status != http.StatusForbidden {
				t.Error(a.status, a.text())
			}
			if d.now(d.made).Participants[0].Person != nil {
				t.Error("somebody has the place")
			}
		})
	}
}

// A link on another site to where the provider sends browsers does not end a login.
func TestForeignAnswerEndsNoLogin(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.phones.answer("annas", reply{who: anna})
	b := d.tab()
	state := b.sent(d.link(0))
	b.back("another", "annas")
	b.back("", "")
	b.follow(b.back(state, "annas")).says(t, 200, "place.asked.title")
}

// pushed is a provider that was handed the request before (RFC 9126), so that the address to which the
// browser is sent does not tell the state.
type pushed struct{ *phones }

func (p pushed) Begin(ctx context.Context, way LoginMethod, hint string) (LoginState, error) {
	s, err := p.phones.Begin(ctx, way, hint)
	s.Redirect = "https://idp.example/authorize?request_uri=urn:example:1"
	return s, err
}

func (p pushed) Finish(ctx context.Context, s LoginState, query url.Values) (portal.Person, error) {
	if query.Get("state") != s.state() {
		return portal.Person{}, fmt.Errorf("%w, but to another", ErrForeignAnswer)
	}
	return p.phones.Finish(ctx, s, query)
}

// Nor does it where only the provider's client can tell.
func TestForeignAnswerThatIsChecked(t *testing.T) {
	t.Parallel()
	d := newDoor(t, func(c *Config) { c.Login = pushed{c.Login.(*phones)} })
	d.phones.answer("annas", reply{who: anna})
	b := d.tab()
	b.begin(d.link(0), "way", "browser")
	b.get(loginPath)
	for _, state := range []string{"another", "", "another"} {
		b.follow(b.back(state, "annas")).says(t, 200, "redirect.go")
	}
	b.follow(b.back(visitOf(b).Login.State.state(), "annas")).says(t, 200, "place.asked.title")
	if len(d.faults) > 0 {
		t.Error(d.faults)
	}
}

// An answer that cannot be checked ends the login, since its code is good once; and the next one goes
// well.
func TestProviderIsAwayWhenTheBrowserComesBack(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.phones.answer("annas", reply{who: anna})
	b := d.tab()
	state := b.sent(d.link(0))
	d.phones.fails(errors.New("no route to host"))
	b.follow(b.back(state, "annas")).says(t, 502, "ended.outage.title", "ended.again")
	d.phones.fails(nil)
	b.follow(b.back(b.sent(d.link(0)), "annas")).says(t, 200, "place.asked.title")
}

// A second answer while the first is checked finds what comes of the first.
func TestBrowserComesBackTwice(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		d.phones.answer("annas", reply{who: anna})
		b := d.tab()
		state := b.sent(d.link(0))
		d.phones.takes(5 * time.Second)
		first := make(chan answer)
		go func() {
			one := d.tab()
			one.cookies[sessionCookie] = b.cookie()
			first <- one.back(state, "annas")
		}()
		time.Sleep(time.Second)
		if a := b.back(state, "annas"); a.location != loginPath {
			t.Error(a.status, a.text())
		}
		b.get(loginPath).says(t, 200, "wait.asking")
		if a := <-first; a.location != loginPath {
			t.Error(a.status, a.text())
		}
		b.open(loginPath).says(t, 200, "place.asked.title")
	})
}
