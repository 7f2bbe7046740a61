package transfer_test

import (
	"bytes"
	"context"
	"crypto"
	_ "crypto/sha256" // the hash that documents are hashed with
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
	"github.com/innsigli/innsigli/storage/transfer"
	"github.com/innsigli/innsigli/webhook/delivery"
)

var (
	start     = time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC)
	farFuture = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// fill stores more records of each type than one batch has. One record of each type has a value in every field.
func fill(t *testing.T, s transfer.Target) {
	t.Helper()
	documents := create(t, s, 6, 300_000) // the documents of five requests, and the image of a stamp
	contracts := create(t, s, 130, 10)
	err := s.InTx(t.Context(), func(ctx context.Context) error {
		errs := []error{s.Sandbox().SaveAuthority(ctx, []byte("authority"))}
		for i := range 3 {
			errs = append(errs, addAccount(ctx, s, fmt.Sprint("account-", 3-i)))
		}
		for i := range 300 {
			errs = append(errs, addOne(ctx, s, i), addWebhook(ctx, s, i))
		}
		image := documents[5]
		for i, ref := range documents[:5] {
			errs = append(errs, addLive(ctx, s, i, ref, stamps(image.ID)[i]))
		}
		errs = append(errs, s.Documents().Keep(ctx, image.ID), addOrders(ctx, s, contracts[7]))
		for i, ref := range contracts {
			errs = append(errs, addProcess(ctx, s, i, ref))
		}
		return errors.Join(errs...)
	})
	if err == nil {
		_, err = (evidence.Chain{Log: s.EvidenceLog(), Tx: s}).Extend(t.Context(), evidence.State{})
	}
	if err == nil {
		err = s.InTx(t.Context(), func(ctx context.Context) error { return s.EvidenceLog().DeleteEntries(ctx, 7) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

// create creates documents, each so many bytes longer than the one before.
func create(t *testing.T, s transfer.Target, number, more int) (documents []storage.Ref) {
	t.Helper()
	for i := range number {
		content := bytes.Repeat([]byte{byte(i + 1)}, i*more)
		ref, err := s.Documents().Create(t.Context(), bytes.NewReader(content), 1<<30, crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, ref)
	}
	return documents
}

func addAccount(ctx context.Context, s transfer.Target, id string) error {
	errs := []error{s.Accounts().AddAccount(ctx, account.Account{ID: id, Name: "Þór", PaymentMethod: true, Quota: 1024, FreeUsed: 5, Stored: 1023, CreatedAt: start})}
	for i := range 5 {
		name := fmt.Sprint(id, "-", 5-i)
		errs = append(errs,
			s.Accounts().AddClient(ctx, account.Client{ID: name, AccountID: id, Name: "n", Secrets: []account.Secret{{ID: account.FirstSecret, Hash: []byte{1, 2}, CreatedAt: start, UsedAt: start}, {ID: "later", Hash: []byte{3}, CreatedAt: start}}, Scopes: []string{"portal/read"}, CreatedAt: start, UsedAt: start}),
			s.Sandbox().CreateUser(ctx, sandbox.User{
				ID: name, Account: id, FullName: "Jón", Kennitala: fmt.Sprint("010130-239", i), Phone: fmt.Sprint("555000", i),
				Delay: time.Second, Action: sandbox.Action("Sign"), CreatedAt: start, UpdatedAt: start, CertifiedName: "Jón", Certificate: []byte{3}, Key: []byte{4},
			}))
	}
	return errors.Join(errs...)
}

// addOne adds a token, a busy signal, a request that has ended and whose document is missing, a certificate, a
// job and an entry of the evidence log.
func addOne(ctx context.Context, s transfer.Target, i int) error {
	id, at, user := fmt.Sprintf("%03d", (i*7)%300), start.Add(time.Duration(i/50)*time.Second), "user"
	return errors.Join(
		s.Accounts().AddToken(ctx, account.TokenRecord{Hash: []byte(id), ClientID: "c", Secret: "later", AccountID: "a", Scopes: []string{"s"}, IssuedAt: start, ExpiresAt: at}),
		s.BusySignals().AddSignal(ctx, busysignal.Signal{ID: id, Account: "a", CreatedAt: start, UsedAt: at, Holder: &busysignal.Holder{ID: id, UserID: &user, Since: at}}),
		s.Requests().CreateRequest(ctx, signing.Request{ID: id, Account: "a", CreatedAt: at, UpdatedAt: at, Expires: at, Phase: signing.Ended, Document: "6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11"}),
		s.Requests().KeepCertificate(ctx, signing.KeptCertificate{Person: id, Certificate: []byte{5, byte(i)}, Expires: at}),
		s.Jobs().Enqueue(ctx, storage.Job{Kind: "k", Group: "g", Unique: id, Due: at, Payload: []byte("payload"), Failures: i, LastError: "því miður", FailedAt: at, Parked: i%2 == 0}),
		s.EvidenceLog().Record(ctx, storage.Entry{Subject: id, Account: "a", Kind: "k", At: start, Facts: json.RawMessage(`{"n": ` + fmt.Sprint(i) + `}`)}),
	)
}

// addWebhook adds a subscription, a signing key, an attempt and a dropped event.
func addWebhook(ctx context.Context, s transfer.Target, i int) error {
	id, at := fmt.Sprintf("%03d", (i*7)%300), start.Add(time.Duration(i/50)*time.Second)
	return errors.Join(
		s.Webhooks().CreateKey(ctx, delivery.SigningKey{Number: i + 1, Public: []byte{1, byte(i)}, Private: []byte{2, byte(i)}, CreatedAt: start, EndsAt: at}),
		s.Webhooks().CreateSubscription(ctx, delivery.Subscription{
			ID: id, Account: fmt.Sprint("account-", i%3), URL: "https://þór.example/", EventTypes: []string{"process.completed", "participant.signed"},
			Active: true, Reason: delivery.PingsFailed, CreatedAt: at, UpdatedAt: at, Secret: []byte{3, byte(i)}, Generation: i,
			ActivatedAt: at, FailingSince: at, AlertedAt: at,
		}, 100),
		s.Webhooks().AddAttempt(ctx, delivery.Attempt{
			Subscription: fmt.Sprint(i % 2), Event: id, Type: "process.completed", Purpose: delivery.ForDelivery, Number: 3,
			At: at, Duration: time.Duration(i), Status: 503, Failure: delivery.BadStatus, Detail: "því miður", Next: at,
		}),
		s.Webhooks().AddDropped(ctx, delivery.Dropped{Subscription: fmt.Sprint(i % 2), Event: id, Type: "process.completed", At: at, Body: []byte{4, 0, byte(i)}}),
	)
}

// stamps returns the stamps of the live requests: none, the standard one, and an image.
func stamps(image string) []*signing.Stamp {
	return []*signing.Stamp{3: {Page: 1, Rect: [4]float64{1, 2, 118, 57}}, 4: {Page: 2, Rect: [4]float64{1, 2, 3.5, 4}, Image: image}}
}

// addLive adds a request that has not ended, with a document that has a revision.
func addLive(ctx context.Context, s transfer.Target, i int, ref storage.Ref, stamp *signing.Stamp) error {
	at := start.Add(time.Duration(i) * 2 * time.Second)
	return errors.Join(
		s.Documents().Keep(ctx, ref.ID),
		s.Documents().Append(ctx, ref.ID, storage.Revision{Base: ref.Size, Bytes: []byte("a revision")}),
		s.Requests().CreateRequest(ctx, signing.Request{
			ID: fmt.Sprint("live-", i), Account: "a", CreatedAt: at, UpdatedAt: at, Expires: at, Phase: signing.Signed,
			Person: idp.Person{Kennitala: "0101302399", Phone: "5550001"}, Text: idp.Text{Document: "contract.pdf", Reason: "agreed"}, Place: "Reykjavík",
			Level: ades.LT, Document: ref.ID, Stamp: stamp, BusySignal: "001", State: idp.State{Provider: "p", Version: 2, Key: "k", Public: []byte{1}, Secret: []byte{2}, Expires: at},
			Pending: []byte{3}, Code: "1234", Value: []byte{4}, SignedAt: at, NextTry: at, NextAsk: at, StartCode: "5678", StartExpires: at,
			Key: &signing.IdempotencyKey{Client: "c", Key: fmt.Sprint(i), Fingerprint: "f"}, PolledAt: at,
			Lease: signing.Lease{Process: "p", Token: "t", Until: at}, Revision: 7,
		}))
}

// addProcess adds a process with a document that has a revision, an idempotency key and an entry of the ledger.
func addProcess(ctx context.Context, s transfer.Target, i int, ref storage.Ref) error {
	id, at := fmt.Sprintf("%03d", (i*7)%130), start.Add(time.Duration(i/50)*time.Second)
	person := &portal.Person{Name: "Jón", Kennitala: "0101302399", At: at}
	return errors.Join(
		s.Documents().Keep(ctx, ref.ID),
		s.Documents().Append(ctx, ref.ID, storage.Revision{Base: ref.Size, Bytes: []byte("a revision")}),
		s.Processes().CreateProcess(ctx, portal.Process{
			ID: id, Account: fmt.Sprint("account-", i%3), Origin: portal.Web, CreatedAt: at, FileName: "Samningur.pdf", Document: ref.ID,
			Participants: []portal.Participant{
				{
					Participant: process.Participant{
						ID: id + "-1", Role: portal.Signer, Kennitala: "0101302399",
						Link: portal.Link{InvitedAt: at, Was: []byte{8, byte(i)}}, Person: person,
						Signature: &portal.Signature{Name: "JÓN", Kennitala: "0101302399", Value: []byte{5, byte(i)}, At: at},
					},
					Name: "Jón", Email: "jon@example.is", Phone: "5550001", Stamp: &signing.Stamp{Page: 1, Rect: [4]float64{1, 2, 118, 57}},
				},
				{
					Participant: process.Participant{
						ID: id + "-2", Role: portal.Signer,
						Link:    portal.Link{InvitedAt: at},
						Decline: &portal.Decline{Reason: "nei", Kennitala: "0101302399", At: at},
					},
					Name: "Anna",
				},
				{
					Participant: process.Participant{
						ID: id + "-3", Role: portal.Viewer,
						Link: portal.Link{InvitedAt: at, Hash: []byte{6, byte(i)}, Token: []byte{7, byte(i)}},
					},
					Name: "Páll",
				},
			},
			Turn: &portal.Turn{Number: 2, Participant: id + "-2", Request: "order-1", Since: at}, Turns: 2,
		}),
		s.Processes().CreateKey(ctx, portal.Key{Client: "c", Value: id, Fingerprint: "f", CreatedAt: at, Process: id, Until: at}),
		s.Accounts().AddLine(ctx, account.Line{ID: id, Account: fmt.Sprint("account-", i%3), API: account.PortalAPI, At: at, Free: i%2 == 0}),
	)
}

// addOrders adds requests that sign the document of a process: one has ended, and one is signed. The process of
// the third is missing.
func addOrders(ctx context.Context, s transfer.Target, ref storage.Ref) (err error) {
	const gone = "6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11"
	for i, r := range []signing.Request{{Phase: signing.Ended, Document: ref.ID}, {Phase: signing.Signed, Document: ref.ID}, {Phase: signing.Ended, Document: gone}} {
		at := start.Add(time.Duration(i) * time.Minute)
		r.ID, r.Order, r.Draft = fmt.Sprint("order-", i), fmt.Sprint("p/1/", i+1), []byte{8, byte(i)}
		r.Account, r.CreatedAt, r.UpdatedAt, r.Expires = "account-1", at, at, at
		err = errors.Join(err, s.Requests().CreateRequest(ctx, r))
	}
	return err
}
