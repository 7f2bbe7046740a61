package signing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/bolt"
)

// A request from its start to its delivery, answered by a sandbox user.
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
	people, err := sandbox.Open(ctx, db.Sandbox(), db, sandbox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	name, kennitala, phone := "Sandbox Signer", "0101302989", "5550101"
	_, err = people.Create(ctx, "my account", sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone})
	if err != nil {
		log.Fatal(err)
	}
	requests := signing.New(db.Requests(), db, db.Documents(), db.Jobs(), db.EvidenceLog(), people, busysignal.New(db.BusySignals(), db, busysignal.Options{}), signing.Options{
		Sources:        people.Sources,
		IgnoreInterval: true, // without it, polls less than two seconds apart do not ask the provider
	})

	document, err := requests.Upload(ctx, bytes.NewReader(pdftest.Build(pdftest.Options{})), 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	started, err := requests.Start(ctx, signing.Start{
		Account:  "my account",
		Document: document,
		Name:     "contract.pdf",
		Person:   idp.Person{Method: idp.App, Kennitala: kennitala},
	})
	if err != nil {
		log.Fatal(err)
	}

	poll := func() error {
		return requests.Poll(ctx, "my account", started.ID, func(a signing.Answer) error {
			if a.Document == nil {
				fmt.Println(a.Failure.Code, a.Code)
				return nil
			}
			report, err := pades.Verify(ctx, pades.Document{ReaderAt: a.Document, Size: a.Document.Size()}, ades.VerifyOptions{Roots: people.Roots()})
			if err == nil {
				fmt.Println("delivered, valid:", report.Passed())
			}
			return err
		})
	}
	for err == nil {
		err = poll()
	}
	fmt.Println("once only:", errors.Is(err, signing.ErrFinished))
	// Output:
	// AuthorizationPending 1234
	// delivered, valid: true
	// once only: true
}
