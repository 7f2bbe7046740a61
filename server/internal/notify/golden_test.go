package notify

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/mail"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

const goldenJobs = "testdata/jobs-1.golden.json"

// queued is a store that notes jobs. It has one account, and no processes.
type queued struct {
	storage.Jobs
	portal.Store
	jobs []storage.Job
	read []string // IDs of the processes that were read
}

func (q *queued) InTx(ctx context.Context, f func(context.Context) error) error { return f(ctx) }

func (q *queued) Enqueue(_ context.Context, jobs ...storage.Job) error {
	q.jobs = append(q.jobs, jobs...)
	return nil
}

func (q *queued) Account(context.Context, string) (account.Account, error) {
	return account.Account{Admins: []string{"admin@example.com"}}, nil
}

func (q *queued) Process(_ context.Context, id string) (portal.Process, error) {
	q.read = append(q.read, id)
	return portal.Process{}, storage.ErrNotFound
}

// posted notes messages.
type posted []mail.Message

func (p *posted) Send(_ context.Context, m mail.Message) error {
	*p = append(*p, m)
	return nil
}

// Jobs that version 1 stored are made the same way, and are read.
func TestGoldenJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now().UTC() // a bubble begins with the year 2000
		var q queued
		var out posted
		post := Queue{Tx: &q, Jobs: &q, Out: &out, Log: slog.New(slog.DiscardHandler)}
		l := &Mailer{Queue: post, Processes: &q, Accounts: &q}
		message := mail.Message{ID: "message", To: []string{"Admin <admin@example.com>"}, Subject: "Subject", Text: "Text", HTML: "<p>Text</p>", Languages: []string{"is", "en"}, Logo: []byte("PNG")}
		signer := portal.Participant{Participant: process.Participant{ID: "signer", Link: portal.Link{InvitedAt: now.Add(-time.Hour)}}, Email: "signer@example.com"}
		process := portal.Process{ID: "process", Participants: []portal.Participant{signer}}
		err := errors.Join(
			post.Enqueue(t.Context(), "account", message), l.Invite(t.Context(), process, signer),
			l.Completed(t.Context(), process), l.Declined(t.Context(), process, signer))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]processJob{
			"process.mail invitation": {1, invitation, "process", "signer", "signer@example.com", now.Add(-time.Hour)},
			"process.mail completion": {1, completion, "process", "signer", "signer@example.com", now},
			"process.mail decline":    {1, refusal, "process", "signer", "admin@example.com", now},
		}

		golden := testenv.SameAsGoldenJSON(t, goldenJobs, q.payloads())
		got := make(map[string]processJob)
		for name := range want {
			var one processJob
			_, err := l.Send(t.Context(), storage.Job{Payload: golden[name]})
			if err = errors.Join(err, json.Unmarshal(golden[name], &one)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got[name] = one
		}
		if diff := cmp.Diff(want, got); diff != "" || !slices.Equal(q.read, []string{"process", "process", "process"}) {
			t.Errorf("%q were read; -want +got:\n%s", q.read, diff)
		}
		if _, err := post.Send(t.Context(), storage.Job{Payload: golden[MessageKind]}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(posted{message}, out); diff != "" {
			t.Errorf("sent -want +got:\n%s", diff)
		}
		testenv.Filled(t, messageJob{1, message, now})
	})
}

// payloads are what the jobs carry, by kind. Letters are also told apart by their topic.
func (q *queued) payloads() map[string][]byte {
	all := make(map[string][]byte)
	for _, job := range q.jobs {
		name := job.Kind
		var one processJob
		if json.Unmarshal(job.Payload, &one) == nil && one.Topic != "" {
			name += " " + string(one.Topic)
		}
		all[name] = job.Payload
	}
	return all
}

// Facts about letters that version 1 recorded are made the same way, and are read. The facts about
// a process name its signing requests.
func TestGoldenFacts(t *testing.T) {
	failure := &mail.Failure{Step: mail.StepTo, Code: 451, Enhanced: "4.7.1", Reason: "it ended the connection", Unclear: true}
	failed := failureFacts{mail.StepTo, 451, "4.7.1", "it ended the connection", true}
	admin, signer := processJob{Topic: refusal, Participant: "signer"}, processJob{Topic: invitation, Participant: "signer"}
	job := storage.Job{ID: "message", Attempt: 4}
	encoded, want := make(map[string][]byte), make(map[string]mailFacts)
	fates := map[result]processJob{sent: signer, delayed: admin, refused: admin, gaveUp: admin}
	if all := testenv.Constants(t, "result", ""); len(all) != len(fates) {
		t.Errorf("of %v only %v have an example", all, fates)
	}
	for became, about := range fates {
		facts := mailFacts{about.Topic, "signer", about == admin, "message", 4, failureFacts{}}
		var err error
		if became != sent {
			err, facts.failureFacts = failure, failed
			testenv.Filled(t, facts)
		}
		entry, err := about.entry(portal.Process{}, became, job, err, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		encoded[entry.Kind], want[entryPrefix+string(became)] = entry.Facts, facts
	}
	got := make(map[string]mailFacts)
	for kind, facts := range testenv.SameAsGoldenJSON(t, "testdata/facts-1.golden.json", encoded) {
		var one mailFacts
		if err := json.Unmarshal(facts, &one); err != nil {
			t.Error(err)
		}
		got[kind] = one
	}
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
