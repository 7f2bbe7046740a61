package postgres

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/portal"
)

// The version before, which does not list processes, stores them without a status and without the time of their end. They
// are in the right lists all the same: those from before the migration, and those that it creates and changes later.
func TestListsAndTheVersionBefore(t *testing.T) {
	url := postgrestest.Database(t)
	if _, _, err := migrate(t.Context(), url, versions(t, 11)); err != nil {
		t.Fatal(err)
	}
	const insert = `INSERT INTO processes (id, account, origin, created_at, file_name, document, participants, turns, waits_until) VALUES `
	execute(t, url, insert+`
		('1', 'a', 'api', '2026-03-01', 'f', 'd', '[{"id":"1","role":"Signer","signature":{"at":"2026-03-02T00:00:00Z"}}]', 0, NULL),
		('2', 'a', 'api', '2026-03-02', 'f', 'd', '[{"id":"1","role":"Signer","decline":{"reason":"","at":"2026-03-03T00:00:00Z"}}]', 0, NULL),
		('3', 'a', 'api', '2026-03-03', 'f', 'd', '[{"id":"1","role":"Signer","link":{"invitedAt":"2026-03-03T00:00:00Z"}}]', 0, '2026-03-10')`)
	if _, _, err := Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	execute(t, url, insert+`
		('4', 'a', 'api', '2026-03-04', 'f', 'd', '[{"id":"1","role":"Signer","link":{"invitedAt":"2026-03-04T00:00:00Z"}}]', 0, '2026-03-11'),
		('5', 'a', 'api', '2026-03-05', 'f', 'd', NULL, 0, NULL)`)
	db := openedAt(t, url, Options{})
	lists := func(want map[portal.Status][]string) {
		t.Helper()
		for _, status := range []portal.Status{"", portal.Waiting, portal.Completed, portal.Declined, portal.Expired} {
			list, err := db.Processes().ListProcesses(t.Context(), portal.Listing{Account: "a", Origin: portal.API, Status: status}, portal.Position{}, 10)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range list {
				if status != "" && p.NotedStatus() != status {
					t.Errorf("%s is %s by its columns and %s by its values", p.ID, status, p.NotedStatus())
				}
				got = append(got, p.ID)
			}
			if d := cmp.Diff(want[status], got); d != "" {
				t.Errorf("status %q: %s", status, d)
			}
		}
	}
	lists(map[portal.Status][]string{"": {"1", "2", "3", "4", "5"}, portal.Waiting: {"3", "4"}, portal.Completed: {"1", "5"}, portal.Declined: {"2"}})
	ended, err := db.Processes().Ended(t.Context(), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), 10)
	if err != nil || len(ended) != 2 || ended[0].ID != "1" || ended[1].ID != "2" {
		t.Errorf("ended: %v, %v", ended, err)
	}

	// This version notes that one has expired, and the one before invites again, and changes others.
	execute(t, url, `UPDATE processes SET ended_at = waits_until WHERE id = '3'`)
	lists(map[portal.Status][]string{"": {"1", "2", "3", "4", "5"}, portal.Waiting: {"4"}, portal.Expired: {"3"}, portal.Completed: {"1", "5"}, portal.Declined: {"2"}})
	execute(t, url, `UPDATE processes SET waits_until = '2026-03-20', participants = '[{"id":"1","role":"Signer","link":{"invitedAt":"2026-03-13T00:00:00Z"}}]' WHERE id = '3';
		UPDATE processes SET waits_until = NULL, participants = '[{"id":"1","role":"Signer","signature":{"at":"2026-03-06T00:00:00Z"}}]' WHERE id = '4'`)
	lists(map[portal.Status][]string{"": {"1", "2", "3", "4", "5"}, portal.Waiting: {"3"}, portal.Completed: {"1", "4", "5"}, portal.Declined: {"2"}})
}
