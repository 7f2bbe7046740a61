package bolt_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage/bolt"
)

// pages is the content of a store's file.
type pages []byte

var pageSize = os.Getpagesize()

func (p pages) page(id int) []byte { return p[id*pageSize:][:pageSize] }

// of returns the IDs of the pages of a type: 1 is a branch page, 2 a leaf page, 16 a list of free pages.
func (p pages) of(kind uint16) (ids []int) {
	for id := 2; id < len(p)/pageSize; id++ {
		page := p.page(id)
		if binary.NativeEndian.Uint64(page) == uint64(id) && binary.NativeEndian.Uint16(page[8:]) == kind && binary.NativeEndian.Uint16(page[10:]) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// refer has an element of a branch page refer to another page.
func (p pages) refer(branch, element, to int) {
	binary.NativeEndian.PutUint64(p.page(branch)[16+16*element+8:], uint64(to))
}

// storeWithBranches makes a store whose buckets have branch pages.
func storeWithBranches(t *testing.T) (path string, content pages) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	db := open(t, path)
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		for i := range 300 {
			if err := db.Accounts().AddAccount(ctx, account.Account{ID: fmt.Sprint(i), Name: strings.Repeat("n", 200)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stored(t, db, "a document")
	used := db.UsedBytes()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, used); err != nil {
		t.Fatal(err)
	}
	content = read(t, path)
	if len(content.of(1)) < 2 {
		t.Fatalf("the store has %d branch pages", len(content.of(1)))
	}
	return path, content
}

// A page that refers to itself, or to a page above it, is an error that says what to do. In the same way, a page
// that two pages refer to would be written to by two buckets.
func TestPagesThatReferToEachOther(t *testing.T) {
	path, whole := storeWithBranches(t)
	branch := whole.of(1)
	for name, damage := range map[string]func(p pages){
		"first element to itself":  func(p pages) { p.refer(branch[0], 0, branch[0]) },
		"second element to itself": func(p pages) { p.refer(branch[0], 1, branch[0]) },
		"two branch pages":         func(p pages) { p.refer(branch[0], 0, branch[1]); p.refer(branch[1], 0, branch[0]) },
		"two elements to one leaf": func(p pages) { copy(p.page(branch[0])[16+8:][:8], p.page(branch[0])[32+8:][:8]) },
		"behind the end":           func(p pages) { p.refer(branch[0], 0, len(whole)/pageSize) },
		"the first page":           func(p pages) { p.refer(branch[0], 0, 0) },
		"all branch pages":         func(p pages) { allToThemselves(p) },
	} {
		t.Run(name, func(t *testing.T) {
			damaged := bytes.Clone(whole)
			damage(damaged)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := bolt.Open(path, bolt.Options{})
			if !errors.Is(err, bolt.ErrDamaged) || !strings.Contains(err.Error(), "restore a backup") {
				t.Errorf("Open: %v", err)
			}
		})
	}
}

func allToThemselves(p pages) {
	for _, id := range p.of(1) {
		for i := range binary.NativeEndian.Uint16(p.page(id)[10:]) {
			p.refer(id, int(i), id)
		}
	}
}

// A page that is damaged while the store is in use ends a compaction and a backup with an error.
func TestDamageToAnOpenStore(t *testing.T) {
	path, whole := storeWithBranches(t)
	db := open(t, path)
	damaged := bytes.Clone(whole)
	allToThemselves(damaged)
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.Compact(t.Context()); !errors.Is(err, bolt.ErrDamaged) {
		t.Errorf("Compact: %v", err)
	}
	if err := db.Backup(t.Context(), io.Discard); !errors.Is(err, bolt.ErrDamaged) {
		t.Errorf("Backup: %v", err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.Compact(t.Context()); err != nil {
		t.Errorf("Compact of the whole file: %v", err)
	}
}

// A store of which leaves are damaged while it is in use returns errors, and goes on when the file is whole again.
func TestLeavesOfAnOpenStoreAreDamaged(t *testing.T) {
	path, whole := storeWithBranches(t)
	db := open(t, path)
	addAccount := func(ctx context.Context) error { return db.Accounts().AddAccount(ctx, account.Account{ID: "new"}) }
	for name, change := range map[string]func(page []byte){
		"empty pages":  func(page []byte) { clear(page) },
		"no leaves":    func(page []byte) { page[8] = 0xff },
		"long keys":    func(page []byte) { binary.NativeEndian.PutUint32(page[24:], 1<<31) },
		"far elements": func(page []byte) { binary.NativeEndian.PutUint16(page[10:], 60_000) },
	} {
		damaged := pages(bytes.Clone(whole))
		for _, id := range whole.of(2) {
			change(damaged.page(id))
		}
		overwrite(t, path, damaged)
		_, read := db.Accounts().Accounts(t.Context())
		written := db.WriteToAllTables(t.Context())
		ignored := db.InTx(t.Context(), func(ctx context.Context) error {
			_ = addAccount(ctx)
			return nil
		})
		overwrite(t, path, whole)
		committed := db.DeleteSome(t.Context(), func() { overwrite(t, path, damaged) })
		overwrite(t, path, whole)
		for what, err := range map[string]error{"read": read, "write": written, "ignore an error": ignored, "commit": committed} {
			if !errors.Is(err, bolt.ErrDamaged) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if list, err := db.Accounts().Accounts(t.Context()); err != nil || len(list) != 300 {
			t.Errorf("%s: %d accounts afterwards, %v", name, len(list), err)
		}
	}
	if err := errors.Join(db.InTx(t.Context(), addAccount), db.WriteToAllTables(t.Context())); err != nil {
		t.Error(err)
	}
	if faults := db.Check(); len(faults) > 0 {
		t.Error(errors.Join(faults...))
	}
}

// overwrite writes the content of a file that is in use.
func overwrite(t *testing.T, path string, content []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteAt(content, 0)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// damage damages one or more pages, which bbolt's checksums do not cover: all but the first two.
func damage(random *rand.Rand, p pages) {
	ids := slices.Concat(p.of(1), p.of(2), p.of(16)) // branches, leaves, and the list of free pages
	some := func() int { return ids[random.IntN(len(ids))] }
	for range 1 + random.IntN(3) {
		id := some()
		page := p.page(id)
		switch random.IntN(8) {
		case 0: // noise
			for i := range page {
				page[i] = byte(random.Uint32())
			}
		case 1: // some bytes of the header and the first elements
			for range 4 {
				page[random.IntN(64)] = byte(random.Uint32())
			}
		case 2:
			clear(page)
		case 3: // one bit
			page[random.IntN(pageSize)] ^= 1 << random.IntN(8)
		case 4: // another page
			copy(page, p.page(some()))
		case 5: // a sector of another page
			sector := 512 * random.IntN(pageSize/512)
			copy(page[sector:][:512], p.page(some())[512*random.IntN(pageSize/512):])
		case 6: // a reference, perhaps to the page itself or one above it
			branches := p.of(1)
			if len(branches) == 0 {
				continue
			}
			id = branches[random.IntN(len(branches))]
			page = p.page(id)
			to := []int{id, some(), branches[random.IntN(len(branches))], int(random.Uint32())}
			p.refer(id, random.IntN(int(min(binary.NativeEndian.Uint16(page[10:]), 200))), to[random.IntN(len(to))])
		case 7: // another type, or another number of elements or pages
			field := []int{8, 10, 12}[random.IntN(3)]
			binary.NativeEndian.PutUint16(page[field:], uint16(random.IntN(20)))
		}
	}
}

// A damaged page is an error or not noticed, and never a panic or an endless loop. A store that opens can be read and
// written to.
func TestADamagedFileIsAnError(t *testing.T) {
	path, whole := storeWithBranches(t)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	refused := 0
	const number = 3000
	for i := range uint64(number) {
		damaged := bytes.Clone(whole)
		damage(rand.New(rand.NewPCG(i, 1)), damaged)
		if _, err := file.WriteAt(damaged, 0); err != nil {
			t.Fatal(err)
		}
		db, err := bolt.Open(path, bolt.Options{})
		switch {
		case err == nil:
			readAndWrite(t, i, db)
		case errors.Is(err, bolt.ErrDamaged), errors.Is(err, bolt.ErrSchema), errors.Is(err, bolt.ErrFolder):
			refused++ // the damage may be to the version or to the mark of the folder
		default:
			t.Errorf("damage %d: %v", i, err)
		}
	}
	t.Logf("%d of %d damaged files were refused", refused, number)
	if refused < number/2 {
		t.Errorf("only %d of %d files were refused", refused, number)
	}
}

// readAndWrite reads all of a store, writes to all of its tables, and closes it. An error has to say that the store is
// damaged.
func readAndWrite(t *testing.T, i uint64, db *bolt.DB) {
	t.Helper()
	_, accounts := db.Accounts().Accounts(t.Context())
	backup := db.Backup(t.Context(), io.Discard)
	written := db.WriteToAllTables(t.Context())
	for _, err := range []error{accounts, backup, written, db.Close()} {
		if err != nil && !errors.Is(err, bolt.ErrDamaged) {
			t.Errorf("damage %d: %v", i, err)
		}
	}
}

// A damaged store of an earlier version, with its list of free pages and nested buckets, is an error or migrated.
func TestMigrateADamagedFile(t *testing.T) {
	whole := pages(read(t, earlier(t, 3)))
	folder := t.TempDir()
	refused := 0
	const number = 60
	for i := range uint64(number) {
		damaged := bytes.Clone(whole)
		damage(rand.New(rand.NewPCG(i, 2)), damaged)
		path := filepath.Join(folder, fmt.Sprint(i))
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := bolt.Migrate(path, bolt.Options{})
		if errors.Is(err, bolt.ErrDamaged) || errors.Is(err, bolt.ErrSchema) {
			refused++
		} else if err != nil {
			t.Errorf("damage %d: %v", i, err)
		}
	}
	t.Logf("%d of %d damaged files were refused", refused, number)
	if refused < number/4 {
		t.Errorf("only %d of %d files were refused", refused, number)
	}
}
