package sealed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

// newProcess returns a process with three participants, of whom the first has used the link.
func newProcess(id string) portal.Process {
	p := portal.Process{ID: id, Account: owner, CreatedAt: expires}
	for i := range 3 {
		one := portal.Participant{Participant: process.Participant{ID: fmt.Sprint(id, "-", i), Role: portal.Signer, Link: portal.Link{InvitedAt: expires}}}
		if i > 0 {
			one.Link.Hash, one.Link.Token = []byte("hash of "+one.ID), []byte("token of "+one.ID)
		}
		p.Participants = append(p.Participants, one)
	}
	return p
}

func (d deployment) begin(t *testing.T, store portal.Store, list ...portal.Process) {
	t.Helper()
	err := d.db.InTx(t.Context(), func(ctx context.Context) error {
		for _, p := range list {
			if err := store.CreateProcess(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantProcesses fails the test unless all methods return these processes.
func (d deployment) wantProcesses(t *testing.T, k *sealed.Keys, want ...portal.Process) {
	t.Helper()
	store := sealed.Processes(d.db.Processes(), k)
	until := expires.Add(portal.InvitationTime)
	unopened, err := store.Unopened(t.Context(), until, 1000)
	waiting, waitErr := store.Waiting(t.Context(), owner, expires, 1000)
	if err := errors.Join(err, waitErr); err != nil || len(waiting) != len(want) {
		t.Fatalf("%d wait, %v", len(waiting), err)
	}
	if diff := cmp.Diff(want, unopened); diff != "" {
		t.Error(diff)
	}
	for _, p := range want {
		byID, err := store.Process(t.Context(), p.ID)
		byLink, linkErr := store.ProcessByLink(t.Context(), p.Participants[1].Link.Hash)
		if diff := cmp.Diff([]portal.Process{p, p}, []portal.Process{byID, byLink}); err != nil || linkErr != nil || diff != "" {
			t.Errorf("%v, %v\n%s", err, linkErr, diff)
		}
	}
}

func (d deployment) resealProcesses(t *testing.T, k *sealed.Keys) (int, error) {
	return sealed.ResealProcesses(t.Context(), d.db, d.db.Processes(), d.db.AllUnopened(t.Context()), k)
}

// After a rotation all tokens are sealed with the new key, and open without the old one. Without the old key
// resealing fails, and the error names the link.
func TestResealProcesses(t *testing.T) {
	d := newDeployment(t)
	a, b := newKey(), newKey()
	onlyA, both, onlyB := keys(t, a), keys(t, b, a), keys(t, b)
	var all []portal.Process
	for i := range 300 {
		all = append(all, newProcess(fmt.Sprint("p", i)))
	}
	d.begin(t, sealed.Processes(d.db.Processes(), onlyA), all[:299]...)
	d.begin(t, sealed.Processes(d.db.Processes(), both), all[299])
	d.wantProcesses(t, both, all...)

	if _, err := d.resealProcesses(t, onlyB); !errors.Is(err, sealed.ErrKey) || !strings.Contains(err.Error(), "(link of a process p0/p0-1)") {
		t.Errorf("without the old key: %v", err)
	}
	for _, want := range []int{299, 0} {
		if n, err := d.resealProcesses(t, both); n != want || err != nil {
			t.Errorf("%d were sealed, want %d: %v", n, want, err)
		}
	}
	d.wantProcesses(t, onlyB, all...)

	d.db.Close()
	if _, err := d.resealProcesses(t, onlyB); err == nil {
		t.Error("ResealProcesses of a closed store returned no error")
	}
}

// A token that is not sealed stays as it is and does not keep the other tokens of its process from being sealed with the
// new key; nor does it hide that the key of another one is missing.
func TestResealProcessesBesidePlainTokens(t *testing.T) {
	d := newDeployment(t)
	a, b := newKey(), newKey()
	onlyA, both, onlyB := keys(t, a), keys(t, b, a), keys(t, b)
	p := newProcess("p")
	d.begin(t, sealed.Processes(d.db.Processes(), onlyA), p)
	plain := []byte("chosen")
	d.change(t, d.db.Processes(), "p", func(p *portal.Process) { p.Participants[1].Link.Token = plain })

	if _, err := d.resealProcesses(t, onlyB); !errors.Is(err, sealed.ErrKey) || !strings.Contains(err.Error(), "(link of a process p/p-2)") {
		t.Errorf("without the old key: %v", err)
	}
	for _, want := range []int{1, 0} {
		var seen reported
		n, err := d.resealProcesses(t, both.WithReport(seen.add))
		if n != want || err != nil {
			t.Errorf("%d were sealed, want %d: %v", n, want, err)
		}
		if err := seen.take(); !errors.Is(err, sealed.ErrPlain) {
			t.Errorf("reported %v", err)
		}
	}
	p.Participants[1].Link.Token = nil
	d.wantProcesses(t, onlyB, p)
	if stored, err := d.db.Processes().Process(t.Context(), "p"); err != nil || !bytes.Equal(stored.Participants[1].Link.Token, plain) {
		t.Errorf("the token that is not sealed: %q, %v", stored.Participants[1].Link.Token, err)
	}
}

// A process whose token does not open is returned without the token. Updating it does not lose the stored token,
// since the key may be added again.
func TestTokensThatDoNotOpen(t *testing.T) {
	d := newDeployment(t)
	right, wrong := keys(t, newKey()), keys(t, newKey())
	p := newProcess("p")
	d.begin(t, sealed.Processes(d.db.Processes(), right), p)
	without := newProcess("p")
	without.Participants[1].Link.Token, without.Participants[2].Link.Token = nil, nil
	d.wantProcesses(t, wrong, without)

	lost := sealed.Processes(d.db.Processes(), wrong)
	d.change(t, lost, "p", func(p *portal.Process) { p.FileName = "Changed.pdf" })
	p.FileName = "Changed.pdf"
	d.wantProcesses(t, right, p)
	another := portal.Link{InvitedAt: expires, Hash: []byte("another hash"), Token: []byte("another token")}
	for range 2 { // the second time with another token that opens
		d.change(t, lost, "p", func(p *portal.Process) { p.Participants[1].Link = another })
	}
	p.Participants[1].Link = another
	without.FileName, without.Participants[1].Link = "Changed.pdf", another
	d.wantProcesses(t, wrong, without)
	p.Participants[1].Link.Token = nil
	d.wantProcesses(t, right, p)

	d.change(t, lost, "p", func(p *portal.Process) { p.Participants[2].Link = portal.Link{InvitedAt: expires} })
	if stored, err := d.db.Processes().Process(t.Context(), "p"); err != nil || stored.Participants[2].Link.Token != nil {
		t.Errorf("used: %+v, %v", stored.Participants[2].Link, err)
	}
	err := d.db.InTx(t.Context(), func(ctx context.Context) error { return lost.DeleteProcess(ctx, "p") })
	if err != nil {
		t.Error(err)
	}
}

// change updates a process that it has read from the store.
func (d deployment) change(t *testing.T, store portal.Store, id string, f func(*portal.Process)) {
	t.Helper()
	err := d.db.InTx(t.Context(), func(ctx context.Context) error {
		p, err := store.Process(ctx, id)
		if err != nil {
			return err
		}
		f(&p)
		return store.UpdateProcess(ctx, p)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A token opens in its own link only, and the file does not contain it. Storing a process does not change the
// caller's value.
func TestTokensAreBoundToTheirLink(t *testing.T) {
	d, k := newDeployment(t), keys(t, newKey())
	store, p := sealed.Processes(d.db.Processes(), k), newProcess("p")
	d.begin(t, store, p)
	if diff := cmp.Diff(newProcess("p"), p); diff != "" {
		t.Error(diff)
	}
	for name, move := range map[string]func(p *portal.Process){
		"another process":     func(p *portal.Process) { p.ID = "another process" },
		"another participant": func(p *portal.Process) { p.ID, p.Participants[1].ID = "another participant", "other" },
	} {
		moved, err := d.db.Processes().Process(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		move(&moved)
		d.begin(t, d.db.Processes(), moved)
		if got, err := store.Process(t.Context(), moved.ID); err != nil || got.Participants[1].Link.Token != nil {
			t.Errorf("of %s: %+v, %v", name, got.Participants, err)
		}
	}
	d.db.Close()
	content, err := os.ReadFile(d.path)
	if err != nil || bytes.Contains(content, []byte("dG9rZW4gb2Yg")) || bytes.Contains(content, []byte("token of ")) {
		t.Errorf("the file contains tokens, or cannot be read: %v", err)
	}
}

// Records of the signing page are sealed. A record that does not open, since its key is missing or it was copied
// from another record, is not found, and can be replaced.
func TestPageRecords(t *testing.T) {
	d, old, k := newDeployment(t), newKey(), newKey()
	before, both, now := keys(t, old), keys(t, k, old), keys(t, k)
	put := func(store storage.Records, key, value string) {
		t.Helper()
		r := storage.Record{Key: []byte(key), Value: []byte(value), Expires: expires}
		if err := d.db.InTx(t.Context(), func(ctx context.Context) error { return store.PutRecord(ctx, r) }); err != nil {
			t.Fatal(err)
		}
	}
	has := func(with *sealed.Keys, key, want string) {
		t.Helper()
		got, err := sealed.Pages(d.db.Pages(), with).Record(t.Context(), []byte(key))
		if want == "" {
			if !errors.Is(err, storage.ErrNotFound) || got.Value != nil {
				t.Errorf("%s: %q, %v", key, got.Value, err)
			}
			return
		}
		if diff := cmp.Diff(storage.Record{Key: []byte(key), Value: []byte(want), Expires: expires}, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", key, err, diff)
		}
	}
	put(sealed.Pages(d.db.Pages(), before), "jon", "0101302399")
	has(before, "jon", "0101302399")
	has(both, "jon", "0101302399")
	has(now, "jon", "")
	stored, err := d.db.Pages().Record(t.Context(), []byte("jon"))
	if err != nil || !sealed.Is(stored.Value) || bytes.Contains(stored.Value, []byte("0101302399")) {
		t.Errorf("%q, %v", stored.Value, err)
	}
	put(d.db.Pages(), "anna", string(stored.Value))
	has(both, "anna", "")
	put(sealed.Pages(d.db.Pages(), both), "jon", "again")
	has(now, "jon", "again")
}
