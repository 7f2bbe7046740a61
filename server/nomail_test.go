package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server/internal/notify"
	"github.com/innsigli/innsigli/storage/bolt"
)

// A server that sends no mail drops the messages that an operator's command has left, and in production
// says of which process.
func TestMailThatIsNotSent(t *testing.T) {
	for name, production := range map[string]bool{"sandbox": false, "production": true} {
		t.Run(name, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "store.db")
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				s, db := newServer(t, store, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
				if production {
					s.config.Environment = Production
				}
				p := deserted(t, s, db)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if err := s.runner().Run(ctx); err != nil {
					t.Error(err)
				}
				noMailJobs(t, db)
				told := strings.Count(log.String(), `msg="message not sent: no mail server is configured (--mail)" process=`+p.ID)
				if (told == 1) != production || strings.Contains(log.String(), "example.is") {
					t.Errorf("the log: %s", &log)
				}
			})
		})
	}
}

// Who deletes a process withdraws its mail on any server.
func TestMailOfADeletedProcess(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		s, db := newServer(t, store, nil)
		p := deserted(t, s, db)
		if err := s.processes.Delete(t.Context(), p.Account, p.ID); err != nil {
			t.Fatal(err)
		}
		noMailJobs(t, db)
	})
}

// deserted is a process with a message that this server does not send.
func deserted(t *testing.T, s *Server, db *bolt.DB) portal.Process {
	t.Helper()
	owner, err := s.accounts.CreateAccount(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	ref, err := db.Documents().Create(t.Context(), strings.NewReader("a document"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	p := portal.Process{
		ID: "p", Account: owner.ID, Origin: portal.API, CreatedAt: now(), Document: ref.ID,
		Participants: []portal.Participant{invited("first", portal.Signer)},
	}
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		operator := &notify.Mailer{Queue: notify.Queue{Tx: db, Jobs: db.Jobs()}}
		return errors.Join(
			db.Documents().Keep(ctx, ref.ID),
			db.Processes().CreateProcess(ctx, p),
			operator.Invite(ctx, p, p.Participants[0]),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func noMailJobs(t *testing.T, db *bolt.DB) {
	t.Helper()
	if due, err := db.Jobs().NextDue(t.Context(), notify.ProcessKind); err != nil || len(due) > 0 {
		t.Errorf("a message is left, due %v: %v", due, err)
	}
}
