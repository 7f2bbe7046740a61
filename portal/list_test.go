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

// listed returns the IDs of all pages of a query.
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

// lists checks the list of each status, in pages of several sizes.
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

// TestList checks that each process is in the list of its status at any time, before and after a sweep (spec 4.8).
func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		var ids []string
		for range 5 {
			ids = append(ids, s.create(1).ID)
			time.Sleep(time.Hour)
		}
		s.must(s.declineAs(s.show(ids[1]), 0))
		s.must(s.signAs(s.show(ids[2]), 0, s.anna))
		other := s.draft(1)
		other.Account = s.newAccount(true)
		s.mustCreate(other)
		s.create(1, ofWeb)
		s.lists(map[portal.Status][]string{
			"": ids, portal.Waiting: {ids[0], ids[3], ids[4]}, portal.Declined: {ids[1]}, portal.Completed: {ids[2]},
		})
		time.Sleep(portal.InvitationTime - 5*time.Hour + time.Second) // the first expires
		afterwards := map[portal.Status][]string{
			"": ids, portal.Waiting: {ids[3], ids[4]}, portal.Declined: {ids[1]}, portal.Completed: {ids[2]}, portal.Expired: {ids[0]},
		}
		s.lists(afterwards)
		n, err := s.Sweep(t.Context())
		if s.must(err); n == 0 {
			t.Error("nothing was swept")
		}
		s.lists(afterwards)
		time.Sleep(3 * time.Hour) // the fourth expires, without a sweep
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

// TestListPages checks lists of later processes, and pages between which processes are created and deleted.
func TestListPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		var ids []string
		for range 6 {
			ids = append(ids, s.create(1).ID)
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
		last := s.create(1).ID
		got := s.listed(portal.Query{Limit: 2, After: first.Next, CreatedAfter: third.Add(-time.Hour)})
		if d := cmp.Diff([]string{ids[2], ids[4], ids[5], last}, got); d != "" {
			t.Error(d)
		}
	})
}

// TestInvalidQuery checks that all invalid parameters are named.
func TestInvalidQuery(t *testing.T) {
	s := newService(t)
	cursor := func(content string) string { return base64.RawURLEncoding.EncodeToString([]byte(content)) }
	eight := strings.Repeat("\x00", 8)
	for name, test := range map[string]struct {
		q    portal.Query
		want []string
	}{
		"all":               {portal.Query{Status: "waiting", Limit: 0, After: "none"}, []string{"status", "limit", "after"}},
		"status of viewers": {portal.Query{Status: process.None, Limit: 1}, []string{"status"}},
		"negative limit":    {portal.Query{Limit: -1}, []string{"limit"}},
		"too many":          {portal.Query{Limit: portal.MaxPage + 1}, []string{"limit"}},
		"other alphabet":    {portal.Query{Limit: 1, After: "????????????????"}, []string{"after"}},
		"other version":     {portal.Query{Limit: 1, After: cursor("\x02" + eight + "id")}, []string{"after"}},
		"no ID":             {portal.Query{Limit: 1, After: cursor("\x01" + eight)}, []string{"after"}},
		"too long":          {portal.Query{Limit: 1, After: cursor("\x01" + eight + strings.Repeat("a", 101))}, []string{"after"}},
		"far too long":      {portal.Query{Limit: 1, After: strings.Repeat("A", 1<<20)}, []string{"after"}},
		"no UTF-8":          {portal.Query{Limit: 1, After: cursor("\x01" + eight + "\xff")}, []string{"after"}},
		"a byte 0":          {portal.Query{Limit: 1, After: cursor("\x01" + eight + "a\x00")}, []string{"after"}},
		"no time":           {portal.Query{Limit: 1, After: cursor("\x01" + strings.Repeat("\x7f", 8) + "id")}, []string{"after"}},
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
