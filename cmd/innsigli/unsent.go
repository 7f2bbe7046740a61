package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// unsent is the mail of a server that sends none. It writes no letters, but there may be some: an
// operator's command that invites again does not know whether a server sends them.
type unsent struct {
	letters *letters
	log     *slog.Logger // of letters that somebody may wait for
}

var _ portal.Mail = unsent{}

// unsent is that of this server. Nobody waits for mail of a sandbox (service.md 4.4 item 10).
func (s *server) unsent() unsent {
	log := s.log
	if s.signers.users != nil {
		log = slog.New(slog.DiscardHandler)
	}
	return unsent{&letters{post: mailJobs{tx: s.db, jobs: s.db.Jobs()}}, log}
}

// Invite implements [portal.Mail].
func (unsent) Invite(context.Context, portal.Process, portal.Participant) error { return nil }

// Completed implements [portal.Mail].
func (unsent) Completed(context.Context, portal.Process) error { return nil }

// Declined implements [portal.Mail].
func (unsent) Declined(context.Context, portal.Process, portal.Participant) error { return nil }

// Withdraw implements [portal.Mail].
func (u unsent) Withdraw(ctx context.Context, process string) error {
	return u.letters.Withdraw(ctx, process)
}

// drop does a job by not sending its letter.
func (u unsent) drop(_ context.Context, job storage.Job) (retry time.Time, err error) {
	u.log.Warn("a letter was not sent: this server sends no mail (--mail)", "process", job.Group)
	return retry, nil
}
