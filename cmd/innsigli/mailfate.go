package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// mailEntry begins the kinds of entries in the evidence log about the letters of a process, whose ID is
// their subject: mail.sent, mail.delayed, mail.refused and mail.gaveup. They name no address: that of a
// participant is in the entry about the creation.
const mailEntry = "mail."

// mailFacts are what became of a letter.
type mailFacts struct {
	Topic       topic  `json:"topic"`
	Participant string `json:"participant"`     // whom it went to, or who declined
	Admin       bool   `json:"admin,omitempty"` // it went to an admin of the account
	Message     string `json:"message"`         // what is before the @ of its Message-ID
	Attempts    int    `json:"attempts"`
	failureFacts
}

// failureFacts are why the last attempt failed.
type failureFacts struct {
	Step     mail.Step `json:"step,omitempty"`     // of the conversation with the server
	Code     int       `json:"code,omitempty"`     // the server's answer
	Enhanced string    `json:"enhanced,omitempty"` // what it says more exactly
	Says     string    `json:"says,omitempty"`     // what happened in place of an answer
	// MaybeSent: the server had the whole message and did not say that it takes it. It is sent again, since
	// one that comes twice is better than one that never comes.
	MaybeSent bool `json:"maybeSent,omitempty"`
}

func factsOf(err error) failureFacts {
	f := new(mail.Failure)
	switch {
	case errors.As(err, &f):
		return failureFacts{f.Step, f.Code, f.Enhanced, f.Says, f.Unclear}
	case err != nil:
		return failureFacts{Says: err.Error()}
	}
	return failureFacts{}
}

// entryOf is an entry about a letter of a process.
func (of letter) entryOf(p portal.Process, became fate, job storage.Job, err error) (storage.Entry, error) {
	facts, encodingErr := json.Marshal(mailFacts{
		Topic: of.Topic, Participant: of.Participant, Admin: of.Topic == refusal, Message: job.ID, Attempts: job.Attempt,
		failureFacts: factsOf(err),
	})
	if encodingErr != nil {
		return storage.Entry{}, fmt.Errorf("encoding what became of a letter: %w", encodingErr)
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	return storage.Entry{Subject: p.ID, Account: p.Account, Kind: mailEntry + string(became), At: at, Facts: facts}, nil
}

// worthAnEntry says whether a delay is recorded: at the first attempt, the second, the fourth, the eighth and so
// on, for a server may be away for days.
func worthAnEntry(attempt int) bool { return bits.OnesCount(uint(attempt)) == 1 }

// record records what became of a letter behind the end of its job, or at once when it is to be sent again.
func (l *letters) record(ctx context.Context, entry storage.Entry) error {
	if err := l.post.evidence.Record(ctx, entry); err != nil {
		return fmt.Errorf("recording what became of a letter: %w", err)
	}
	return nil
}
