package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage/sealed"
)

// The operator's command invites with the master key of the store alone, also where it has no link to
// open: the server, which has to start again, could not open those that another key sealed.
func TestResendWithAnotherKey(t *testing.T) {
	in := place{path: filepath.Join(t.TempDir(), "store.db")}
	other := filepath.Join(t.TempDir(), "other.key")
	if err := sealed.MakeFile(other); err != nil {
		t.Fatal(err)
	}
	p := portal.Process{
		ID: "p", Origin: portal.API, CreatedAt: now(),
		Participants: []portal.Participant{{ID: "first", Role: portal.Signer, Email: "first@example.is", Link: portal.Link{InvitedAt: now()}}},
	}
	t.Run("first", func(t *testing.T) {
		s := openServer(t, in, slog.New(slog.DiscardHandler))
		err := s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.Processes().CreateProcess(ctx, p) })
		if err != nil {
			t.Fatal(err)
		}
	})
	output(t, failed, "process", "resend", p.ID, "--store", "bolt:"+in.path, "--master-key-file", other)
	if said := output(t, done, "process", "resend", p.ID, "--store", "bolt:"+in.path); said != "invitations made again: 1\n" {
		t.Error(said)
	}
	t.Run("again", func(t *testing.T) {
		s := openServer(t, in, slog.New(slog.DiscardHandler))
		if n, err := s.processes.Resend(t.Context(), p.ID); n != 1 || err != nil {
			t.Errorf("%d were invited: %v", n, err)
		}
	})
}
