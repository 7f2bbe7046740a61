package page

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// Nobody signs anything but what they have read.
func TestSigningAnotherRevision(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users()
	v := s.process()
	jon := s.browser(jons)
	form := []string{"method", "IdpApp", "revision", "0"} // from a tab that was opened before
	s.signs(v, 0, annas)
	a := jon.post(of(v, 1, "/sign"), form...)
	a.says(t, http.StatusConflict, "problem.changed.title", "problem.look")
	if !strings.Contains(a.body, `href="`+of(v, 1)+`"`) {
		t.Error(a.body)
	}
	if s.now(v).Turn != nil || s.provider.asked != 1 {
		t.Error("the phone was made to ring")
	}
	if again := jon.get(of(v, 1)); !strings.Contains(again.body, `name="revision" value="1"`) {
		t.Error("the form is not about the document as it is now")
	}
	s.sign(v, 1, jons).says(t, http.StatusSeeOther)
	s.drive(v)
	jon.get(of(v, 1)).says(t, http.StatusOK, "place.completed")
	jon.follow(jon.post(of(v, 1, "/sign"), form...)).says(t, http.StatusOK, "place.completed")
}

// Forms that no page of the server sends.
func TestSigningWithForgedForm(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(c *Config) { c.Methods = []idp.Method{idp.App} })
	s.users()
	v := s.process()
	anna := s.browser(annas)
	long := strings.Repeat("x", maxFormSize)
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
		"too long":                  {[]string{"method", "IdpApp", "revision", "0", "more", long}, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) { anna.post(of(v, 0, "/sign"), test.form...).says(t, test.status) })
	}
	vala := s.browser(valas)
	vala.post(of(v, 2, "/sign"), "method", "IdpApp", "revision", "0").says(t, http.StatusSeeOther)
	if s.now(v).Turns != 0 || s.provider.asked != 0 {
		t.Error("somebody was asked")
	}
	a := anna.get(of(v, 0)) // with one method there is nothing to choose
	a.says(t, http.StatusOK, "sign.button.app", "!sign.method", "!sign.phone.hint")
}

// overtaking is a portal in which something else happens between the look at a place and what is done.
type overtaking struct {
	Portal
	first func()
	away  error
}

// happens has it happen once.
func (o *overtaking) happens() {
	first := o.first
	o.first = func() {}
	first()
}

func (o *overtaking) Sign(ctx context.Context, process, participant string, a portal.SignRequest) (signing.Started, error) {
	if o.happens(); o.away != nil {
		return signing.Started{}, o.away
	}
	return o.Portal.Sign(ctx, process, participant, a)
}

func (o *overtaking) Open(ctx context.Context, process, participant string) (portal.DocumentCopy, error) {
	o.happens()
	return o.Portal.Open(ctx, process, participant)
}

func (o *overtaking) Decline(ctx context.Context, process, participant, reason string) error {
	if o.happens(); o.away != nil {
		return o.away
	}
	return o.Portal.Decline(ctx, process, participant, reason)
}

// What happens just before is told by the page that the answer leads to, or by one of its own.
func TestSignAndDeclineOvertaken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first         func(*scene, portal.ProcessView)
		sign, decline int
		says          string
	}{
		"another declines":   {func(s *scene, v portal.ProcessView) { s.declines(v, 1) }, http.StatusSeeOther, http.StatusSeeOther, "place.declined"},
		"in another tab too": {func(s *scene, v portal.ProcessView) { s.declines(v, 0) }, http.StatusSeeOther, http.StatusSeeOther, "place.declined.own"},
		"it expires":         {(*scene).expires, http.StatusSeeOther, http.StatusSeeOther, "place.expired"},
		"another begins":     {func(s *scene, v portal.ProcessView) { s.begins(v, 1) }, http.StatusSeeOther, http.StatusSeeOther, ""},
		"in another tab":     {func(s *scene, v portal.ProcessView) { s.begins(v, 0) }, http.StatusSeeOther, http.StatusSeeOther, "place.signing.title"},
		"another signs": {
			func(s *scene, v portal.ProcessView) { s.begins(v, 1); s.drive(v) },
			http.StatusConflict, http.StatusSeeOther, "",
		},
		"it is deleted": {
			func(s *scene, v portal.ProcessView) { s.must(s.portal.Delete(s.t.Context(), s.account, v.ID)) },
			http.StatusNotFound, http.StatusNotFound, "",
		},
		"the store goes away": {nil, http.StatusServiceUnavailable, http.StatusServiceUnavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for path, status := range map[string]int{"/sign": test.sign, "/decline": test.decline} {
				o := &overtaking{first: func() {}}
				s := newScene(t, func(c *Config) { o.Portal, c.Portal = c.Portal, o })
				s.users()
				v := s.process()
				anna := s.browser(annas)
				o.first = func() {
					if test.first == nil {
						o.away = fmt.Errorf("portal: %w", storage.ErrUnavailable)
						return
					}
					test.first(s, v)
				}
				a := anna.post(of(v, 0, path), "method", "IdpApp", "revision", "0", "reason", "no")
				a.says(t, status)
				if status != http.StatusServiceUnavailable && len(s.faults) > 0 {
					t.Error(s.faults)
				}
				if test.says != "" {
					anna.follow(a).says(t, http.StatusOK, test.says)
				}
			}
		})
	}
}

// begins begins a signature elsewhere.
func (s *scene) begins(v portal.ProcessView, i int) {
	s.t.Helper()
	_, err := s.portal.Sign(s.t.Context(), v.ID, v.Participants[i].ID, portal.SignRequest{Method: idp.App})
	s.must(err)
}
