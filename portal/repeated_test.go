package portal_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
)

// spec 1.8: for 24 hours the same key and body give the same process.
func TestRepeatedCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		first := s.mustCreate(s.keyed("a key", "a body"))
		again := func(want error, change ...func(*portal.Draft)) portal.ProcessView {
			t.Helper()
			d := s.keyed("a key", "a body")
			for _, c := range change {
				c(&d)
			}
			v, err := s.Create(t.Context(), d)
			s.wants(want, err)
			if n := s.unkept(); n != 0 {
				t.Errorf("%d documents are left", n)
			}
			return v
		}
		if d := cmp.Diff(first, again(nil)); d != "" {
			t.Error(d)
		}
		s.must(s.DeclineAs(t.Context(), s.account, first.ID, first.Participants[0].ID, "no"))
		if got := again(nil); got.Status != portal.Declined || got.ID != first.ID {
			t.Error(got.Status, got.ID)
		}
		again(portal.ErrKeyReused, func(d *portal.Draft) { d.Key.Fingerprint = "another body" })
		if got := again(nil, func(d *portal.Draft) { d.Client = "another client" }); got.ID == first.ID {
			t.Error("the key of another client")
		}
		s.must(s.Delete(t.Context(), s.account, first.ID))
		again(portal.ErrNotFound)
		if letters := s.news.letters("invitation"); len(letters) != 1 {
			t.Error(letters)
		}
		time.Sleep(24*time.Hour - 1)
		again(portal.ErrNotFound)
		time.Sleep(time.Nanosecond)
		if got := again(nil, func(d *portal.Draft) { d.Key.Fingerprint = "another body" }); got.ID == first.ID {
			t.Error("the key is known after a day")
		}
	})
}
