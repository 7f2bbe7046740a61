package bolt_test

import (
	"archive/tar"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

func ExampleOpen() {
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
	documents := db.Documents()
	ref, err := documents.Create(ctx, strings.NewReader("the document"), 1<<20, crypto.SHA256)
	if err != nil {
		log.Fatal(err)
	}
	err = db.InTx(ctx, func(ctx context.Context) error {
		revision := storage.Revision{Base: ref.Size, Bytes: []byte(", signed")}
		return errors.Join(documents.Keep(ctx, ref.ID), documents.Append(ctx, ref.ID, revision))
	})
	if err != nil {
		log.Fatal(err)
	}
	blob, err := documents.Open(ctx, ref.ID)
	if err != nil {
		log.Fatal(err)
	}
	defer blob.Close()
	content := make([]byte, blob.Size())
	if _, err := blob.ReadAt(content, 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(content))
	// Output: the document, signed
}

// A domain's service and what follows from its change are stored together.
func ExampleDB_InTx() {
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

	accounts := account.New(db.Accounts(), db, account.Options{})
	err = db.InTx(context.Background(), func(ctx context.Context) error {
		owner, err := accounts.CreateAccount(ctx, "Example Ltd.")
		if err != nil {
			return err
		}
		_, _, err = accounts.CreateClient(ctx, owner.ID, "archive", []string{"no such scope"})
		return err // and there is no account either
	})
	fmt.Println(errors.Is(err, account.ErrInvalidScope))
	list, err := accounts.Accounts(context.Background())
	fmt.Println(len(list), err)
	// Output:
	// true
	// 0 <nil>
}

// A copy of a store that is in use. Where it is extracted with tar is a store.
func ExampleDB_Backup() {
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

	file, err := os.OpenFile(filepath.Join(folder, "backup.tar"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if err := errors.Join(db.Backup(context.Background(), file), file.Sync()); err != nil {
		log.Fatal(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		log.Fatal(err)
	}
	for archive := tar.NewReader(file); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(header.Name)
	}
	// Output:
	// innsigli.db
	// innsigli.db.documents/
	// innsigli.db.documents/store-id
}
