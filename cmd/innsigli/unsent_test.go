package main

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
	"github.com/innsigli/innsigli/storage"
)

// A server that sends no mail drops the letters that an operator's command has left, and in production
// says of which process.
func TestLettersThatNobodySends(t *testing.T) {
	for name, production := range map[string]bool{"sandbox": false, "production": true} {
		t.Run(name, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "store.db")
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				s := openServer(t, place{path: store}, slog.New(slog.NewTextHandler(&log, nil)))
				if production {
					s.signers.users = nil
				}
				p := s.deserted(t)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if err := s.runner().Run(ctx); err != nil {
					t.Error(err)
				}
				s.noLetters(t)
				told := strings.Count(log.String(), `msg="a letter was not sent: this server sends no mail (--mail)" process=`+p.ID)
				if (told == 1) != production || strings.Contains(log.String(), "example.is") {
					t.Errorf("the log: %s", &log)
				}
			})
		})
	}
}

// Who deletes a process withdraws its letters on any server.
func TestLettersOfADeletedProcess(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		s := openServer(t, place{path: store}, slog.New(slog.DiscardHandler))
		p := s.deserted(t)
		if err := s.processes.Delete(t.Context(), p.Account, p.ID); err != nil {
			t.Fatal(err)
		}
		s.noLetters(t)
	})
}

// deserted is a process with a letter that this server does not send.
func (s *server) deserted(t *testing.T) portal.Process {
	t.Helper()
	owner, err := s.accounts.CreateAccount(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	ref, err := s.db.Documents().Create(t.Context(), bytes.NewReader(document), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	p := portal.Process{
		ID: "p", Account: owner.ID, Origin: portal.API, CreatedAt: now(), Document: ref.ID,
		Participants: []portal.Participant{invited("first", portal.Signer)},
	}
	err = s.db.InTx(t.Context(), func(ctx context.Context) error {
		operator := letters{post: mailJobs{tx: s.db, jobs: s.db.Jobs()}}
		return errors.Join(
			s.db.Documents().Keep(ctx, ref.ID),
			s.db.Processes().CreateProcess(ctx, p),
			operator.Invite(ctx, p, p.Participants[0]),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *server) noLetters(t *testing.T) {
	t.Helper()
	if due, err := s.db.Jobs().NextDue(t.Context(), letterKind); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a letter is left, due %v: %v", due, err)
	}
}
