package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/account"
)

func TestWaitingForATransactionEndsWithTheContext(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	begun, end := make(chan bool), make(chan bool)
	ended := make(chan error)
	go func() {
		ended <- db.InTx(t.Context(), func(context.Context) error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() { waiting <- db.InTx(ctx, func(context.Context) error { return nil }) }()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("InTx: %v", err)
	}
	close(end)
	if err := <-ended; err != nil {
		t.Errorf("the transaction before: %v", err)
	}
}

func TestADocumentIsNotCreatedWithinATransaction(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		_, err := db.Documents().Create(ctx, bytes.NewReader(nil), 0)
		return err
	})
	if err == nil {
		t.Error("Create waited for nothing")
	}
}

// A key that bbolt does not take is an error, not a record without a key.
func TestAKeyThatCannotBeStored(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	for name, id := range map[string]string{"empty": "", "huge": string(make([]byte, 1<<16))} {
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			return db.Accounts().AddAccount(ctx, account.Account{ID: id})
		})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if list, err := db.Accounts().Accounts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("Accounts: %v, %v", list, err)
	}
}
