package page

import (
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp"
)

// Nobody enters again what they have logged in with (WCAG 2.2, 3.3.7), whatever the invitation says.
func TestSignFormKnowsTheLogin(t *testing.T) {
	t.Parallel()
	const ring = "5550303"
	for name, test := range map[string]struct {
		place  int
		form   []string
		who    reply
		hint   string
		method idp.Method
		phone  string
	}{
		"by the SIM":                            {1, []string{"way", "sim", "phone", "+354 555 0303"}, reply{who: jon}, ring, idp.SIM, ring},
		"by a SIM that is not the invitation's": {0, []string{"way", "sim", "phone", ring}, reply{who: anna}, ring, idp.SIM, ring},
		"by the app":                            {0, []string{"way", "app", "kennitala", annas}, reply{who: anna}, annas, idp.App, "5550101"},
		"by the app, invited as nobody":         {1, []string{"way", "app", "kennitala", jons}, reply{who: jon}, jons, idp.App, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			b := d.tab()
			d.phones.answer(test.hint, test.who)
			b.begin(d.link(test.place), test.form...)
			b.wait()
			body := b.open(loginPath).body
			if !strings.Contains(body, `name="method" value="`+string(test.method)+`" checked`) {
				t.Errorf("not signed with %s:\n%s", test.method, body)
			}
			if !strings.Contains(body, `autocomplete="tel-national" maxlength="20" value="`+test.phone+`"`) {
				t.Errorf("the phone is not %q:\n%s", test.phone, body)
			}
		})
	}
}
