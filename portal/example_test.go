package portal_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage/bolt"
)

// A process from its creation to the signature of a sandbox user.
func Example() {
	folder, err := os.MkdirTemp("", "innsigli")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	db, err := bolt.Open(filepath.Join(folder, "innsigli.db"), bolt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	ctx := context.Background()
	users, err := sandbox.Open(ctx, db.Sandbox(), db, sandbox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	accounts := account.New(db.Accounts(), db, account.Options{})
	owner := portal.NewOwner(db.Processes(), db, db.Documents(), db.EvidenceLog(), accountTerms{accounts}, portal.Options{
		SandboxUsers: sandboxUsers{db.Sandbox()},
	})
	requests := signing.New(db.Requests(), db, db.Documents(), db.Jobs(), db.EvidenceLog(), users, busysignal.New(db.BusySignals(), db, busysignal.Options{}), signing.Options{
		Sources:        users.Sources,
		IgnoreInterval: true,
		Owner:          owner,
		Renderer:       pdftest.Blank{}, // use stamp/pdfium instead
	})
	processes := portal.New(owner, requests)

	client, err := accounts.CreateAccount(ctx, "Example Ltd.")
	if err != nil {
		log.Fatal(err)
	}
	name, kennitala, phone := "Sandbox Signer", "0101302989", "5550101"
	signer, err := users.Create(ctx, client.ID, sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone})
	if err != nil {
		log.Fatal(err)
	}
	document, err := requests.Upload(ctx, bytes.NewReader(pdftest.Build(pdftest.Options{})), 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	made, err := processes.Create(ctx, portal.Draft{
		Account:  client.ID,
		FileName: "Contract.pdf",
		Document: document,
		Page:     1,
		Corner:   stamp.BottomRight,
		Participants: []portal.Invitee{
			{Name: "Anna Jónsdóttir", Email: "anna@example.is", Role: portal.Signer},
			{Name: "Vala Jónsdóttir", Email: "vala@example.is", Role: portal.Viewer},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(made.Status)
	if err := processes.SignAs(ctx, client.ID, made.ID, made.Participants[0].ID, signer.ID); err != nil {
		log.Fatal(err)
	}
	signed, err := processes.Process(ctx, client.ID, made.ID)
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range signed.Participants {
		fmt.Println(one.Name, one.Status)
	}
	fmt.Println(signed.Status)
	// Output:
	// Waiting
	// Anna Jónsdóttir Completed
	// Vala Jónsdóttir None
	// Completed
}
