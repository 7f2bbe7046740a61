package notify

import (
	"context"
	"errors"
	"log/slog"
	netmail "net/mail"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/sealed"
)

// posts are letters over a store with one process, of an account with two admins.
type posts struct {
	*testing.T
	*Mailer
	db      *bolt.DB
	process portal.Process
	fault   error // of all mail
	names   []string
	sent    []mail.Message // to addresses without the names
}

// Send implements [mail.Transport].
func (p *posts) Send(_ context.Context, m mail.Message) error {
	if p.fault != nil {
		return p.fault
	}
	to, err := netmail.ParseAddress(m.To[0])
	if err != nil {
		return err
	}
	p.names, m.To = append(p.names, to.Name), []string{to.Address}
	p.sent = append(p.sent, m)
	return nil
}

// postsOf runs a test in which time is made of nothing. The process is one of two signers and a
// viewer.
func postsOf(t *testing.T, test func(p *posts)) {
	t.Helper()
	folder := t.TempDir()
	if err := sealed.MakeFile(filepath.Join(folder, "key")); err != nil {
		t.Fatal(err)
	}
	keys, err := sealed.ReadFile(filepath.Join(folder, "key"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		db, err := bolt.Open(filepath.Join(folder, "store.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		p := &posts{T: t, db: db}
		accounts := account.New(db.Accounts(), db, account.Options{})
		owner, err := accounts.CreateAccount(t.Context(), "Íslenskt fyrirtæki ehf.")
		if err := errors.Join(err, accounts.SetAdmins(t.Context(), owner.ID, []string{"one@example.is", "two@example.is"})); err != nil {
			t.Fatal(err)
		}
		p.Mailer = &Mailer{Queue{Tx: db, Jobs: db.Jobs(), Out: p, Log: slog.New(slog.DiscardHandler), Evidence: db.EvidenceLog()}, sealed.Processes(db.Processes(), keys), accounts, "https://sign.example", Letterhead{}}
		p.process = portal.Process{
			ID: "0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11", Account: owner.ID, Origin: portal.API, CreatedAt: now(), FileName: "Leigusamningur.pdf", Document: "d",
			Participants: []portal.Participant{
				invited("first", portal.Signer), invited("second", portal.Signer), invited("viewer", portal.Viewer),
			},
		}
		p.store(func(ctx context.Context) error { return p.Processes.CreateProcess(ctx, p.process) })
		test(p)
	})
}

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func invited(id string, role portal.Role) portal.Participant {
	return portal.Participant{
		Participant: process.Participant{
			ID: id, Role: role,
			Link: portal.Link{InvitedAt: now(), Hash: []byte("hash of " + id), Token: []byte("token-of-" + id)},
		},
		Name: "Name of " + id, Email: id + "@example.is",
	}
}

func (p *posts) store(f func(ctx context.Context) error) {
	p.Helper()
	if err := p.db.InTx(p.Context(), f); err != nil {
		p.Fatal(err)
	}
}

// change changes the process.
func (p *posts) change(f func(*portal.Process)) {
	p.Helper()
	f(&p.process)
	p.store(func(ctx context.Context) error { return p.Processes.UpdateProcess(ctx, p.process) })
}

// inviteAll enqueues an invitation for each participant.
func (p *posts) inviteAll() {
	p.Helper()
	p.store(func(ctx context.Context) (err error) {
		for _, one := range p.process.Participants {
			err = errors.Join(err, p.Invite(ctx, p.process, one))
		}
		return err
	})
}

// payloads are those of the jobs that wait.
func (p *posts) payloads() (list []string) {
	p.Helper()
	looked := errors.New("looked only")
	err := p.db.InTx(p.Context(), func(ctx context.Context) error {
		leases, err := p.db.Jobs().Claim(ctx, ProcessKind, time.Now(), 10, 10, time.Minute)
		for _, l := range leases {
			list = append(list, string(l.Payload))
		}
		return errors.Join(err, looked)
	})
	if err.Error() != looked.Error() {
		p.Fatal(err)
	}
	return list
}

// work does what is due, and returns who got mail.
func (p *posts) work() (to []string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), 10*time.Second)
	defer cancel()
	r := queue.Runner{
		Jobs: p.db.Jobs(), Tx: p.db, Kinds: []queue.Kind{{Name: ProcessKind, DoThen: p.Mailer.Send, Concurrency: 1}},
		Failed: func(_ context.Context, job storage.Job, err error) { p.Errorf("%s: %v", job.Kind, err) },
	}
	if err := r.Run(ctx); err != nil {
		p.Error(err)
	}
	for _, m := range p.sent {
		to = append(to, strings.Join(m.To, " "))
	}
	slices.Sort(to)
	return to
}
