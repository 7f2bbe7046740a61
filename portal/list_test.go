package portal_test

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
)

// listed are the IDs of all pages of a query.
func (s *service) listed(q portal.Query) (ids []string) {
	s.t.Helper()
	for {
		page, err := s.List(s.t.Context(), s.account, q)
		s.must(err)
		if len(page.Processes) > q.Limit {
			s.t.Errorf("%d in a page of %d", len(page.Processes), q.Limit)
		}
		for _, v := range page.Processes {
			if q.Status != "" && v.Status != q.Status {
				s.t.Errorf("%s among those that are %s", v.Status, q.Status)
			}
			ids = append(ids, v.ID)
		}
		if q.After = page.Next; q.After == "" {
			return ids
		}
	}
}

func (s *service) lists(want map[portal.Status][]string) {
	s.t.Helper()
	for _, status := range []portal.Status{"", portal.Waiting, portal.Completed, portal.Declined, portal.Expired} {
		for _, limit := range []int{1, 2, portal.MaxPage} {
			if d := cmp.Diff(want[status], s.listed(portal.Query{Status: status, Limit: limit})); d != "" {
				s.t.Errorf("status %q, %d a page:\n%s", status, limit, d)
			}
		}
	}
}

// Each process is in the list of its status from the moment on at which it has that, whether a sweep has come by or not
// (spec 4.8).
func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna := s.person("Anna", "0101302989", "1")
		var ids []string
		for range 5 {
			ids = append(ids, s.mustCreate(s.draft(1)).ID)
			time.Sleep(time.Hour)
		}
		s.must(s.DeclineAs(t.Context(), s.account, ids[1], s.show(ids[1]).Participants[0].ID, ""))
		s.must(s.SignAs(t.Context(), s.account, ids[2], s.show(ids[2]).Participants[0].ID, anna.ID))
		other := s.draft(1)
		other.Account = s.newAccount(true)
		s.mustCreate(other)
		web := s.draft(1)
		web.Origin = portal.Web
		s.mustCreate(web)
		s.lists(map[portal.Status][]string{
			"": ids, portal.Waiting: {ids[0], ids[3], ids[4]}, portal.Declined: {ids[1]}, portal.Completed: {ids[2]},
		})
		time.Sleep(portal.InvitationTime - 5*time.Hour + time.Second) // the first has expired
		afterwards := map[portal.Status][]string{
			"": ids, portal.Waiting: {ids[3], ids[4]}, portal.Declined: {ids[1]}, portal.Completed: {ids[2]}, portal.Expired: {ids[0]},
		}
		s.lists(afterwards)
		n, err := s.Sweep(t.Context())
		if s.must(err); n == 0 {
			t.Error("nothing was swept")
		}
		s.lists(afterwards)
		time.Sleep(3 * time.Hour) // and the fourth, of which no sweep has come by
		s.lists(map[portal.Status][]string{
			"": ids, portal.Waiting: {ids[4]}, portal.Declined: {ids[1]}, portal.Completed: {ids[2]}, portal.Expired: {ids[0], ids[3]},
		})
		_, err = s.Resend(t.Context(), ids[0])
		s.must(err)
		s.lists(map[portal.Status][]string{
			"": ids, portal.Waiting: {ids[0], ids[4]}, portal.Declined: {ids[1]}, portal.Completed: {ids[2]}, portal.Expired: {ids[3]},
		})
	})
}

// A list of those that were created later, and pages between which processes come and go.
func TestListGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		var ids []string
		for range 6 {
			ids = append(ids, s.mustCreate(s.draft(1)).ID)
			time.Sleep(time.Second)
		}
		third := s.show(ids[2]).CreatedAt
		for after, want := range map[time.Time][]string{
			third: ids[3:], third.Add(-time.Nanosecond): ids[2:], third.Add(time.Nanosecond): ids[3:], time.Now(): nil,
		} {
			if d := cmp.Diff(want, s.listed(portal.Query{CreatedAfter: after, Limit: 2})); d != "" {
				t.Errorf("after %v: %s", after, d)
			}
		}
		first, err := s.List(t.Context(), s.account, portal.Query{Limit: 2})
		s.must(err)
		s.must(s.Delete(t.Context(), s.account, ids[0]))
		s.must(s.Delete(t.Context(), s.account, ids[1]))
		s.must(s.Delete(t.Context(), s.account, ids[3]))
		last := s.mustCreate(s.draft(1)).ID
		got := s.listed(portal.Query{Limit: 2, After: first.Next, CreatedAfter: third.Add(-time.Hour)})
		if d := cmp.Diff([]string{ids[2], ids[4], ids[5], last}, got); d != "" {
			t.Error(d)
		}
	})
}

// Each parameter that is wrong is named, all of them at once.
func TestListRefuses(t *testing.T) {
	s := newService(t, wiring{})
	cursor := func(content string) string { return base64.RawURLEncoding.EncodeToString([]byte(content)) }
	eight := strings.Repeat("\x00", 8)
	for name, test := range map[string]struct {
		q    portal.Query
		want []string
	}{
		"all":              {portal.Query{Status: "waiting", Limit: 0, After: "none"}, []string{"status", "limit", "after"}},
		"a status of none": {portal.Query{Status: process.None, Limit: 1}, []string{"status"}},
		"less than none":   {portal.Query{Limit: -1}, []string{"limit"}},
		"too many":         {portal.Query{Limit: portal.MaxPage + 1}, []string{"limit"}},
		"another alphabet": {portal.Query{Limit: 1, After: "????????????????"}, []string{"after"}},
		"another version":  {portal.Query{Limit: 1, After: cursor("\x02" + eight + "id")}, []string{"after"}},
		"no ID":            {portal.Query{Limit: 1, After: cursor("\x01" + eight)}, []string{"after"}},
		"too long":         {portal.Query{Limit: 1, After: cursor("\x01" + eight + strings.Repeat("a", 101))}, []string{"after"}},
		"far too long":     {portal.Query{Limit: 1, After: strings.Repeat("A", 1<<20)}, []string{"after"}},
		"no text":          {portal.Query{Limit: 1, After: cursor("\x01" + eight + "\xff")}, []string{"after"}},
		"a byte 0":         {portal.Query{Limit: 1, After: cursor("\x01" + eight + "a\x00")}, []string{"after"}},
		"no time":          {portal.Query{Limit: 1, After: cursor("\x01" + strings.Repeat("\x7f", 8) + "id")}, []string{"after"}},
	} {
		_, err := s.List(t.Context(), s.account, test.q)
		var refused *portal.InvalidError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var fields []string
		for _, f := range refused.Faults {
			fields = append(fields, f.Field)
		}
		if !slices.Equal(fields, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	page, err := s.List(t.Context(), s.account, portal.Query{Limit: portal.MaxPage, After: cursor("\x01" + eight + "an ID of another form")})
	if s.must(err); page.Next != "" || page.Processes != nil {
		t.Errorf("%+v", page)
	}
}

// What ended long enough ago is deleted, as by the owner: completed, declined and expired ones, and those of whose end
// nothing was noted. A process that waits, one that ended later, and one in which a signature is under way stay.
func TestDeleteEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna := s.person("Anna", "0101302989", "1")
		create := func(signers int) portal.ProcessView {
			time.Sleep(time.Second)
			return s.mustCreate(s.draft(signers))
		}
		completed, declined, expired, waiting, signing := create(1), create(1), create(1), create(1), create(2)
		web := s.draft(1)
		web.Origin = portal.Web
		other := s.mustCreate(web)
		time.Sleep(time.Hour)
		s.must(s.SignAs(t.Context(), s.account, completed.ID, completed.Participants[0].ID, anna.ID))
		s.must(s.DeclineAs(t.Context(), s.account, declined.ID, declined.Participants[0].ID, ""))
		s.must(s.DeclineAs(t.Context(), s.account, signing.ID, signing.Participants[0].ID, ""))
		p, err := s.db.Processes().Process(t.Context(), signing.ID)
		s.must(err)
		p.Turn, p.Turns = &portal.Turn{Number: 1, Participant: p.Participants[1].ID, Request: "a request"}, 1
		s.update(p)
		unnoted, err := s.db.Processes().Process(t.Context(), declined.ID) // as the version before has stored it
		s.must(err)
		unnoted.EndedAt = time.Time{}
		s.update(unnoted)
		_, err = s.Sweep(t.Context())
		s.must(err)

		deleted := func(before time.Time, want int, left ...string) {
			t.Helper()
			var n int
			for {
				some, err := s.DeleteEnded(t.Context(), before)
				s.must(err)
				if n += some; some == 0 {
					break
				}
			}
			if d := cmp.Diff(left, s.listed(portal.Query{Limit: 100})); n != want || d != "" {
				t.Errorf("%d were done, want %d: %s", n, want, d)
			}
		}
		ended := time.Now()
		deleted(ended.Add(-time.Minute), 1, completed.ID, declined.ID, expired.ID, waiting.ID, signing.ID) // it notes the end of one
		deleted(ended, 0, completed.ID, declined.ID, expired.ID, waiting.ID, signing.ID)
		deleted(ended.Add(time.Second), 2, expired.ID, waiting.ID, signing.ID)
		time.Sleep(portal.InvitationTime)
		_, err = s.Resend(t.Context(), waiting.ID)
		s.must(err)
		_, err = s.Sweep(t.Context())
		s.must(err)
		deleted(time.Now(), 2, waiting.ID, signing.ID)
		for _, id := range []string{completed.ID, other.ID} {
			entries, err := s.db.EvidenceLog().Entries(t.Context(), id)
			if s.must(err); entries[len(entries)-1].Kind != "process.deleted" {
				t.Errorf("the last entry about %s is %s", id, entries[len(entries)-1].Kind)
			}
		}
		for _, gone := range []portal.ProcessView{completed, declined, expired, other} {
			if _, err := s.db.Documents().Open(t.Context(), gone.Document); err == nil {
				t.Error("a document is left")
			}
		}
	})
}
