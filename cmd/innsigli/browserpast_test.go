package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/storage/sealed"

	browsertest "github.com/innsigli/innsigli/internal/test/browser"
	"github.com/innsigli/innsigli/portal"
)

// past makes a process whose links expired yesterday, one of them after somebody had logged in with it.
// For that the server is stopped, and started again.
func (p *production) past(t *testing.T, base string) browsertest.Past {
	t.Helper()
	made := p.client.createProcess(t, inviteText(t, testenv.ReadFile(t, "sample.pdf"),
		invitee{Name: "Anna Prufudóttir", Email: "anna@example.is", Role: "Signer"},
		invitee{Name: "Jón Prufuson", Email: "jon@example.is", Role: "Signer"},
	)).processReply
	link, place := made.link(1), "/sign/"+made.ProcessID+"/"+made.Participants[0].ID
	if _, err := p.stop(); err != nil {
		t.Fatal(err)
	}
	p.makeOlder(t, made.ProcessID)
	p.run(t)
	if !strings.HasPrefix(link, base) {
		t.Fatalf("the link is %s", link)
	}
	return browsertest.Past{Link: link, Place: place, Kennitala: people[0].kennitala}
}

// makeOlder has the invitations of a process be of eight days ago, and the first person have logged in.
func (p *production) makeOlder(t *testing.T, process string) {
	t.Helper()
	store, err := config.ParseStore(p.store)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keys, err := sealed.ReadFile(filepath.Join(p.folder, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	processes := sealed.Processes(db.Processes(), keys)
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		older, err := processes.Process(ctx, process)
		if err != nil {
			return err
		}
		for i := range older.Participants {
			link := &older.Participants[i].Link
			link.InvitedAt = link.InvitedAt.AddDate(0, 0, -8)
		}
		first := &older.Participants[0]
		first.Person = &portal.Person{Name: people[0].name, Kennitala: people[0].kennitala, At: first.Link.InvitedAt}
		first.Link = portal.Link{InvitedAt: first.Link.InvitedAt, Was: first.Link.Hash}
		return processes.UpdateProcess(ctx, older)
	})
	if err != nil {
		t.Fatal(err)
	}
}
