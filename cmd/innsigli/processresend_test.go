package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage/sealed"
)

// The operator's command invites with the master key of the store alone, also where it has no link to
// open: the server, which has to start again, could not open those that another key sealed.
func TestResendWithAnotherKey(t *testing.T) {
	in := config.Store{Path: filepath.Join(shortFolder(t), "store.db")}
	other := filepath.Join(t.TempDir(), "other.key")
	if err := sealed.MakeFile(other); err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	p := portal.Process{
		ID: "p", Origin: portal.API, CreatedAt: at,
		Participants: []portal.Participant{{Participant: process.Participant{ID: "first", Role: portal.Signer, Link: portal.Link{InvitedAt: at}}, Email: "first@example.is"}},
	}
	t.Run("first", func(t *testing.T) {
		s := startInProcess(t, in)
		err := s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.Processes().CreateProcess(ctx, p) })
		if err != nil {
			t.Fatal(err)
		}
	})
	output(t, failed, "process", "resend", p.ID, "--store", "bolt:"+in.Path, "--master-key-file", other)
	if said := output(t, done, "process", "resend", p.ID, "--store", "bolt:"+in.Path); said != "invitations made again: 1\n" {
		t.Error(said)
	}
	t.Run("again", func(t *testing.T) {
		s := startInProcess(t, in)
		if n, err := operator.NewClient(s.store.Socket()).ResendProcess(t.Context(), "", p.ID); n != 1 || err != nil {
			t.Errorf("%d were invited: %v", n, err)
		}
	})
}
