package server

import (
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
)

// newServer makes a server on a store in a file, which is a sandbox unless change makes it another, for the time of the test. It
// does not run.
func newServer(t testing.TB, path string, change func(*Config)) (*Server, *bolt.DB) {
	t.Helper()
	if err := sealed.MakeFile(path + ".key"); err != nil {
		t.Fatal(err)
	}
	keys, err := sealed.ReadFile(path + ".key")
	if err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Environment: Sandbox, BaseURL: "http://sandbox.example", Backend: db, MasterKey: keys}
	if change != nil {
		change(&c)
	}
	s, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, db
}

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func invited(id string, role portal.Role) portal.Participant {
	return portal.Participant{
		Participant: process.Participant{
			ID: id, Role: role,
			Link: portal.Link{InvitedAt: now(), Hash: []byte("hash of " + id), Token: []byte("token-of-" + id)},
		},
		Name: "Name of " + id, Email: id + "@example.is",
	}
}
