package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/transfer"
)

// addProcess adds a process with a document that has a revision, an idempotency key and a line of the
// ledger.
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

// addOrders adds requests that sign the document of a process: the first has ended, the second signs.
// The process of the third is gone.
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
