package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// With the SIM card the code is known at once. The phone number may be written in several ways, and a wrong one is
// shown as it was entered.
func TestSigningWithSIM(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	anna := s.browserOf(annas)
	for _, wrong := range []string{"", "555010", "55501011", "555 01a1", `"><b>`, "+45 5550101", strings.Repeat("5", 8000)} {
		a := anna.post(of(v, 0, "/sign"), "method", "IdpSim", "phone", wrong, "revision", "0").lacks(t, "<b>")
		a.says(t, http.StatusUnprocessableEntity, "sign.phone.fault", "sign.title", "place.file")
		if wrong == "555 01a1" {
			a.contains(t, `value="555 01a1"`)
		}
	}
	begun := anna.post(of(v, 0, "/sign"), "method", "IdpSim", "phone", "+354 555-0101", "revision", "0")
	anna.get(begun.location).contains(t, ">1234<")
	s.complete(v)
	anna.get(begun.location).says(t, http.StatusOK, "place.signed")
}

// The phone number of the invitation is filled in only if the invitation has a kennitala: else another person may
// have opened the link.
func TestSignFormHasPhoneOfInvitation(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	v := s.opened()
	s.update(v, func(p *portal.Process) { p.Participants[1].Phone = "5550202" })
	s.browserOf(annas).get(of(v, 0)).contains(t, `value="5550101"`)
	s.browserOf(jons).get(of(v, 1)).says(t, http.StatusOK, "sign.phone").lacks(t, "5550202")
}

// The form has the input of the login (WCAG 2.2, 3.3.7), whatever the invitation says.
func TestSignFormHasInputOfLogin(t *testing.T) {
	t.Parallel()
	const ring = "5550303"
	for name, test := range map[string]struct {
		participant int
		form        []string
		person      portal.Person
		hint        string
		method      idp.Method
		phone       string
	}{
		"SIM":                       {1, []string{"way", "sim", "phone", "+354 555 0303"}, jon, ring, idp.SIM, ring},
		"SIM with another number":   {0, []string{"way", "sim", "phone", ring}, anna, ring, idp.SIM, ring},
		"app":                       {0, []string{"way", "app", "kennitala", annas}, anna, annas, idp.App, "5550101"},
		"app, without an own phone": {1, []string{"way", "app", "kennitala", jons}, jon, jons, idp.App, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newInvitation(t)
			b := d.newBrowser()
			d.login.answer(test.hint, reply{person: test.person})
			b.begin(d.link(test.participant), test.form...)
			b.letPoll()
			b.open(loginPath).contains(t, `name="method" value="`+string(test.method)+`" checked`,
				`autocomplete="tel-national" maxlength="20" value="`+test.phone+`"`)
		})
	}
}

// Many clicks on the button at once begin one signature, and all lead to it.
func TestSigningDoubleClick(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	locations := make([]string, 64)
	var all sync.WaitGroup
	for i := range locations {
		b := s.browserOf(annas)
		all.Go(func() {
			locations[i] = b.post(of(v, 0, "/sign"), "method", "IdpApp", "revision", "0").location
		})
	}
	all.Wait()
	p := s.stored(v)
	for _, location := range locations {
		if location != of(v, 0, "?attempt=", p.Turn.Request) && location != of(v, 0) {
			t.Error(location)
		}
	}
	if p.Turns != 1 || s.provider.asked != 1 {
		t.Errorf("%d turns, asked %d times", p.Turns, s.provider.asked)
	}
}

// A form about an earlier revision signs nothing.
func TestSigningAnotherRevision(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	jon := s.browserOf(jons)
	form := []string{"method", "IdpApp", "revision", "0"} // from a tab that was opened before
	s.signs(v, 0, annas)
	jon.post(of(v, 1, "/sign"), form...).says(t, http.StatusConflict, "problem.changed.title", "problem.look").
		contains(t, `href="`+of(v, 1)+`"`)
	if s.stored(v).Turn != nil || s.provider.asked != 1 {
		t.Error("a signature has begun")
	}
	jon.get(of(v, 1)).contains(t, `name="revision" value="1"`)
	s.sign(v, 1, jons).says(t, http.StatusSeeOther)
	s.complete(v)
	jon.get(of(v, 1)).says(t, http.StatusOK, "place.completed")
	jon.follow(jon.post(of(v, 1, "/sign"), form...)).says(t, http.StatusOK, "place.completed")
}

// Forms that no page of the server sends are refused.
func TestForgedSignForms(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(c *Config) { c.Methods = []idp.Method{idp.App} })
	s.users()
	v := s.opened()
	anna := s.browserOf(annas)
	for name, test := range map[string]struct {
		form   []string
		status int
	}{
		"empty":                     {nil, http.StatusBadRequest},
		"no method":                 {[]string{"revision", "0"}, http.StatusBadRequest},
		"a method that is not used": {[]string{"method", "IdpSim", "phone", "5550101", "revision", "0"}, http.StatusBadRequest},
		"no revision":               {[]string{"method", "IdpApp"}, http.StatusBadRequest},
		"a negative revision":       {[]string{"method", "IdpApp", "revision", "-1"}, http.StatusBadRequest},
		"a revision to come":        {[]string{"method", "IdpApp", "revision", "1"}, http.StatusConflict},
		"a huge revision":           {[]string{"method", "IdpApp", "revision", "99999999999999999999"}, http.StatusBadRequest},
		"too long":                  {[]string{"method", "IdpApp", "revision", "0", "more", strings.Repeat("x", maxFormSize)}, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) { anna.post(of(v, 0, "/sign"), test.form...).says(t, test.status) })
	}
	s.browserOf(valas).post(of(v, 2, "/sign"), "method", "IdpApp", "revision", "0").says(t, http.StatusSeeOther)
	if s.stored(v).Turns != 0 || s.provider.asked != 0 {
		t.Error("a signature has begun")
	}
	// with one method there is no choice
	anna.get(of(v, 0)).says(t, http.StatusOK, "sign.button.app", "!sign.method", "!sign.phone.hint")
}

// An outage of the provider is shown, does not count against the limits, and leaves the process as it was.
func TestSigningDuringOutage(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	s.provider.err = errors.New("no route to host")
	for range 2 * perParticipantAndPerson.max {
		s.sign(v, 0, annas).says(t, http.StatusBadGateway, "problem.provider.title").lacks(t, "route")
		if s.wantFaults(1); s.stored(v).Turn != nil {
			t.Error("the turn goes on")
		}
	}
	s.provider.err = nil
	s.signs(v, 0, annas)
	s.browserOf(annas).get(of(v, 0)).says(t, http.StatusOK, "place.signed")
}

// overtaking is a portal in which something else happens after the page has read a process.
type overtaking struct {
	Portal
	first func() // once
	err   error
}

func (o *overtaking) happens() {
	first := o.first
	o.first = func() {}
	first()
}

func (o *overtaking) Sign(ctx context.Context, process, participant string, a portal.SignRequest) (signing.Started, error) {
	if o.happens(); o.err != nil {
		return signing.Started{}, o.err
	}
	return o.Portal.Sign(ctx, process, participant, a)
}

func (o *overtaking) Open(ctx context.Context, process, participant string) (portal.DocumentCopy, error) {
	o.happens()
	return o.Portal.Open(ctx, process, participant)
}

func (o *overtaking) Decline(ctx context.Context, process, participant, reason string) error {
	if o.happens(); o.err != nil {
		return o.err
	}
	return o.Portal.Decline(ctx, process, participant, reason)
}

// If something else happens just before a signature or a decline, the page of the participant shows it, or a problem
// page.
func TestSignAndDeclineOvertaken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first         func(*fixture, portal.ProcessView)
		sign, decline int
		says          string
	}{
		"another declines":     {func(s *fixture, v portal.ProcessView) { s.declines(v, 1) }, http.StatusSeeOther, http.StatusSeeOther, "place.declined"},
		"declined another tab": {func(s *fixture, v portal.ProcessView) { s.declines(v, 0) }, http.StatusSeeOther, http.StatusSeeOther, "place.declined.own"},
		"it expires":           {(*fixture).expire, http.StatusSeeOther, http.StatusSeeOther, "place.expired"},
		"another begins":       {func(s *fixture, v portal.ProcessView) { s.begins(v, 1) }, http.StatusSeeOther, http.StatusSeeOther, ""},
		"begun in another tab": {func(s *fixture, v portal.ProcessView) { s.begins(v, 0) }, http.StatusSeeOther, http.StatusSeeOther, "place.signing.title"},
		"another signs": {
			func(s *fixture, v portal.ProcessView) { s.begins(v, 1); s.complete(v) },
			http.StatusConflict, http.StatusSeeOther, "",
		},
		"it is deleted": {
			func(s *fixture, v portal.ProcessView) { s.must(s.portal.Delete(s.t.Context(), s.account, v.ID)) },
			http.StatusNotFound, http.StatusNotFound, "",
		},
		"the store is unavailable": {nil, http.StatusServiceUnavailable, http.StatusServiceUnavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for path, status := range map[string]int{"/sign": test.sign, "/decline": test.decline} {
				o, faults := &overtaking{first: func() {}}, 0
				s := newFixture(t, func(c *Config) { o.Portal, c.Portal = c.Portal, o })
				s.users()
				v := s.opened()
				anna := s.browserOf(annas)
				o.first = func() { test.first(s, v) }
				if test.first == nil {
					o.first, faults = func() { o.err = fmt.Errorf("portal: %w", storage.ErrUnavailable) }, 1
				}
				a := anna.post(of(v, 0, path), "method", "IdpApp", "revision", "0", "reason", "no").says(t, status)
				s.wantFaults(faults)
				if test.says != "" {
					anna.follow(a).says(t, http.StatusOK, test.says)
				}
			}
		})
	}
}

// onceTest is an action that several requests want at once.
type onceTest struct {
	f       *fixture
	takes   time.Duration
	err     error // of the first run
	runs    int
	allowed int
}

func (b *onceTest) allow(context.Context) error {
	b.allowed++
	return nil
}

func (b *onceTest) do(context.Context) (string, error) {
	b.runs++
	time.Sleep(b.takes) // time: in bubbles alone
	err := b.err
	b.err = nil
	return "/sign/there", err
}

func (b *onceTest) once(ctx context.Context) (string, error) {
	return b.f.page.once(ctx, recordKey("test", "one"), b.allow, b.do)
}

// want checks the result of once, and how often the action has run.
func (b *onceTest) want(t *testing.T, runs int) {
	t.Helper()
	if to, err := b.once(t.Context()); to != "/sign/there" || err != nil || b.runs != runs {
		t.Errorf("leads to %q, %v, after %d runs, want %d", to, err, b.runs, runs)
	}
}

// onceInTime runs a subtest in a bubble.
func onceInTime(t *testing.T, name string, test func(t *testing.T, b *onceTest)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, &onceTest{f: newFixture(t), takes: 2 * time.Second}) })
	})
}

// The first request runs the action, and the others get its result.
func TestOnce(t *testing.T) {
	t.Parallel()
	onceInTime(t, "requests during the action and soon after get its result", func(t *testing.T, b *onceTest) {
		for range 3 {
			go b.want(t, 1)
		}
		time.Sleep(b.takes + 2*oncePollInterval)
		synctest.Wait()
		if b.want(t, 1); b.allowed != 1 {
			t.Error(b.allowed)
		}
		time.Sleep(onceResultTime)
		b.want(t, 2)
	})
	onceInTime(t, "after a failure the next request runs it again", func(t *testing.T, b *onceTest) {
		b.err = errors.New("failed")
		go func() {
			if _, err := b.once(t.Context()); err == nil {
				t.Error("no error")
			}
		}()
		time.Sleep(b.takes / 2)
		start := time.Now()
		b.want(t, 2)
		if waited := time.Since(start); waited > 2*b.takes {
			t.Error(waited)
		}
	})
	onceInTime(t, "the action goes on when the first client hangs up", func(t *testing.T, b *onceTest) {
		ctx, cancel := context.WithCancel(t.Context())
		go b.once(ctx)
		time.Sleep(b.takes / 2)
		cancel()
		b.want(t, 1)
		time.Sleep(onceResultTime)
		go b.once(t.Context())
		time.Sleep(oncePollInterval)
		waiting, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.once(waiting); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(b.takes)
	})
	onceInTime(t, "a crash during the action delays it for a while", func(t *testing.T, b *onceTest) {
		b.f.must(b.f.db.InTx(t.Context(), func(ctx context.Context) error {
			return b.f.page.saveOnce(ctx, recordKey("test", "one"), onceRecord{}, onceLease)
		}))
		start := time.Now()
		b.want(t, 1)
		if waited := time.Since(start) - b.takes; waited < onceLease || waited > onceLease+time.Second {
			t.Error(waited)
		}
	})
	onceInTime(t, "what is not allowed is not run, and delays nothing", func(t *testing.T, b *onceTest) {
		refuse := func(context.Context) error { return errTooManyAttempts }
		if _, err := b.f.page.once(t.Context(), recordKey("test", "one"), refuse, b.do); !errors.Is(err, errTooManyAttempts) {
			t.Error(err)
		}
		start := time.Now()
		if b.want(t, 1); time.Since(start) != b.takes {
			t.Error(time.Since(start))
		}
	})
}
