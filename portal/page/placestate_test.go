package page

import (
	"net/http"
	"testing"

	"github.com/innsigli/innsigli/portal"
)

// What the page of Anna, Jón and Vala, who only reads, says for each state of the process, in the words of
// the catalogue.
func TestPlaceInEachState(t *testing.T) {
	t.Parallel()
	form := []string{"sign.title", "sign.phone", "sign.decline", "place.level", "place.until"}
	none := []string{"!sign.title", "!sign.decline", "!sign.button", "!place.level"}
	with := func(lists ...[]string) (all []string) {
		for _, list := range lists {
			all = append(all, list...)
		}
		return all
	}
	over := with(none, []string{"!place.until"})
	for name, test := range map[string]struct {
		before          func(*scene, portal.ProcessView)
		anna, jon, vala []string
	}{
		"nobody has signed": {
			func(*scene, portal.ProcessView) {},
			with(form, []string{"place.asked", "!place.verify", "place.download"}), with(form, []string{"place.asked"}),
			with(none, []string{"place.reading", "place.until"}),
		},
		"Anna signs now": {
			func(s *scene, v portal.ProcessView) { s.sign(v, 0, annas) },
			with(none, []string{"place.signing.title", "signing.reaching", "signing.close", "!place.file"}),
			with(none, []string{"place.busy.title", "place.busy", "busy.read", "!place.file"}),
			with(none, []string{"place.reading", "place.file"}),
		},
		"Anna has signed": {
			func(s *scene, v portal.ProcessView) { s.signs(v, 0, annas) },
			with(none, []string{"place.signed", "people.signed", "people.waits", "place.verify", "place.until"}),
			with(form, []string{"place.asked", "people.signed", "place.verify"}),
			with(none, []string{"place.reading", "people.signed"}),
		},
		"all have signed": {
			func(s *scene, v portal.ProcessView) { s.signs(v, 0, annas); s.signs(v, 1, jons) },
			with(over, []string{"place.completed", "place.download.signed", "place.verify", "!people.waits"}),
			with(over, []string{"place.completed", "place.download.signed", "people.invited"}),
			with(over, []string{"place.completed", "place.download.signed", "people.reads"}),
		},
		"Jón has declined": {
			func(s *scene, v portal.ProcessView) { s.declines(v, 1) },
			with(over, []string{"place.declined", "people.declined", "people.invited", "!place.declined.reason"}),
			with(over, []string{"place.declined.own", "place.declined.reason"}),
			with(over, []string{"place.declined", "people.invited", "!place.declined.reason"}),
		},
		"Jón has declined while Anna signs": {
			func(s *scene, v portal.ProcessView) { s.sign(v, 0, annas); s.declines(v, 1) },
			with(none, []string{"place.signing.title"}),
			with(over, []string{"place.declined.own"}),
			with(over, []string{"place.declined"}),
		},
		"Jón has declined after Anna had signed": {
			func(s *scene, v portal.ProcessView) { s.signs(v, 0, annas); s.declines(v, 1) },
			with(over, []string{"place.declined", "people.signed", "place.verify"}),
			with(over, []string{"place.declined.own"}),
			with(over, []string{"place.declined"}),
		},
		"it has expired": {
			(*scene).expires,
			with(over, []string{"place.expired", "place.download"}), with(over, []string{"place.expired"}), with(over, []string{"place.expired"}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.users()
			v := s.process()
			test.before(s, v)
			for i, who := range []struct {
				kennitala string
				says      []string
			}{{annas, test.anna}, {jons, test.jon}, {valas, test.vala}} {
				b := s.browser(who.kennitala)
				a := b.follow(b.get(of(v, i)))
				a.says(t, http.StatusOK, who.says...)
				s.isSafe(a, who.kennitala)
			}
		})
	}
}
