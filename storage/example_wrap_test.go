package storage_test

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// measured is a store of documents that counts the bytes of new ones.
type measured struct {
	storage.Documents
	bytes atomic.Int64
}

func (m *measured) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	ref, err := m.Documents.Create(ctx, r, limit, hashes...)
	if err == nil {
		m.bytes.Add(ref.Size)
	}
	return ref, err
}

// logged is a store of requests that records each new one in the evidence log. The context carries the transaction, so both
// are stored or neither is.
type logged struct {
	signing.Store
	log storage.EvidenceLog
}

func (n logged) CreateRequest(ctx context.Context, r signing.Request) error {
	if err := n.Store.CreateRequest(ctx, r); err != nil {
		return err
	}
	facts, err := json.Marshal(map[string]string{"place": r.Place})
	if err != nil {
		return err
	}
	return n.log.Record(ctx, storage.Entry{Subject: r.ID, Account: r.Account, Kind: "example.created", At: r.CreatedAt, Facts: facts})
}

// A backend consists of small interfaces. Each can be wrapped or implemented alone, because they share only the context. The
// suite in storage/storagetest tests the result.
func Example_wrap() {
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
	documents := &measured{Documents: db.Documents()}
	var requests signing.Store = logged{db.Requests(), db.EvidenceLog()}

	ctx := context.Background()
	ref, err := documents.Create(ctx, strings.NewReader("the document"), 1<<20, crypto.SHA256)
	if err != nil {
		log.Fatal(err)
	}
	changedMind := errors.New("changed my mind")
	for _, end := range []error{changedMind, nil} {
		err := db.InTx(ctx, func(ctx context.Context) error {
			r := signing.Request{ID: "r", CreatedAt: time.Now(), Place: "Reykjavík", Document: ref.ID}
			return errors.Join(requests.CreateRequest(ctx, r), documents.Keep(ctx, ref.ID), end)
		})
		fmt.Println("stored:", err)
	}
	entries, err := db.EvidenceLog().Entries(ctx, "r")
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Kind, string(e.Facts))
	}
	fmt.Println(documents.bytes.Load(), "bytes")
	// Output:
	// stored: changed my mind
	// stored: <nil>
	// example.created {"place":"Reykjavík"}
	// 12 bytes
}
