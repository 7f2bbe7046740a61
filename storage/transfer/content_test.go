package transfer_test

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/transfer"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// content is everything in a store, without the IDs that a copy assigns.
type content struct {
	Authority    []byte
	Accounts     []account.Account
	Clients      []account.Client
	Users        []sandbox.User
	Tokens       []account.TokenRecord
	Signals      []busysignal.Signal
	Requests     []signing.Request
	Documents    []document // of the requests
	Certificates []signing.KeptCertificate
	Jobs         []storage.Job
	Entries      []storage.Entry
	Batches      []storage.Batch
	Webhooks     webhooks
	Portal       processes
}

// webhooks are the webhook records of a store.
type webhooks struct {
	Keys          []delivery.SigningKey
	Subscriptions []delivery.Subscription
	Attempts      []delivery.Attempt
	Dropped       []delivery.Dropped
}

// processes are the portal's records of a store, with the documents of processes that no request refers to.
type processes struct {
	Processes []portal.Process
	Documents []document
	Keys      []portal.Key
	Lines     []account.Line
}

// document is the content of a document, and the hashes of which it has states.
type document struct {
	Size   int64
	Sum    [sha256.Size]byte
	Hashed []crypto.Hash
}

// contentOf reads everything in a store.
func contentOf(t *testing.T, s transfer.Source) (c content) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			t.Fatal(err)
		}
	}
	var err error
	c.Authority, err = s.Sandbox().Authority(ctx)
	must(err)
	c.Accounts, err = s.Accounts().Accounts(ctx)
	must(err)
	for _, a := range c.Accounts {
		clients, err := s.Accounts().Clients(ctx, a.ID)
		must(err)
		users, err := s.Sandbox().Users(ctx, a.ID)
		must(err)
		c.Clients, c.Users = append(c.Clients, clients...), append(c.Users, users...)
	}
	// Records with the same time, or of lists without an order, are sorted.
	c.Tokens = slices.SortedFunc(slices.Values(listed(t, s.AllTokens(ctx))), func(a, b account.TokenRecord) int { return bytes.Compare(a.Hash, b.Hash) })
	c.Signals = slices.SortedFunc(slices.Values(listed(t, s.AllSignals(ctx))), func(a, b busysignal.Signal) int { return strings.Compare(a.ID, b.ID) })
	c.Certificates = slices.SortedFunc(slices.Values(listed(t, s.AllCertificates(ctx))), func(a, b signing.KeptCertificate) int { return strings.Compare(a.Person, b.Person) })
	ordered := map[string]string{}
	for _, r := range listed(t, s.AllRequests(ctx)) {
		if reference, ok := ordered[r.Document]; ok {
			r.Document = reference
			c.Requests = append(c.Requests, r)
			continue
		}
		id := r.Document
		c.Documents = append(c.Documents, documentOf(t, s, &r.Document))
		if r.Order != "" && r.Document != id {
			ordered[id] = "copied with " + r.ID
		}
		if r.Stamp != nil && r.Stamp.Image != "" {
			c.Documents = append(c.Documents, documentOf(t, s, &r.Stamp.Image))
		}
		c.Requests = append(c.Requests, r)
	}
	for _, j := range listed(t, s.AllJobs(ctx)) {
		j.ID = ""
		c.Jobs = append(c.Jobs, j)
	}
	c.Entries, err = s.EvidenceLog().EntriesAfter(ctx, 0, 10_000)
	must(err)
	c.Batches, err = s.EvidenceLog().Batches(ctx, 0, 100)
	must(err)
	c.Webhooks = webhooksOf(t, s)
	c.Portal = processesOf(t, s, ordered)
	return c
}

// processesOf reads the processes. It replaces the reference to a document that a request shares by the name of
// that request.
func processesOf(t *testing.T, s transfer.Source, ordered map[string]string) (c processes) {
	t.Helper()
	for _, p := range listed(t, s.AllProcesses(t.Context())) {
		if reference, ok := ordered[p.Document]; ok {
			p.Document = reference
		} else {
			c.Documents = append(c.Documents, documentOf(t, s, &p.Document))
		}
		c.Processes = append(c.Processes, p)
	}
	c.Keys = slices.SortedFunc(slices.Values(listed(t, s.AllKeys(t.Context()))), func(a, b portal.Key) int { return strings.Compare(a.Value, b.Value) })
	c.Lines = listed(t, s.AllLines(t.Context()))
	return c
}

func webhooksOf(t *testing.T, s transfer.Source) (w webhooks) {
	t.Helper()
	var err error
	if w.Keys, err = s.Webhooks().Keys(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Subscriptions = listed(t, s.AllSubscriptions(t.Context()))
	w.Attempts = listed(t, s.AllAttempts(t.Context()))
	w.Dropped = listed(t, s.AllDropped(t.Context()))
	return w
}

func listed[T any](t *testing.T, list iter.Seq2[T, error]) (all []T) {
	t.Helper()
	for one, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// documentOf reads a document, and replaces the reference to it, whose value differs between copies, unless the
// document is missing.
func documentOf(t *testing.T, s transfer.Source, id *string) (d document) {
	t.Helper()
	blob, err := s.Documents().Open(t.Context(), *id)
	if errors.Is(err, storage.ErrNotFound) {
		return d
	}
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	content, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err != nil {
		t.Fatal(err)
	}
	*id = "copied"
	d = document{Size: blob.Size(), Sum: sha256.Sum256(content)}
	for _, state := range blob.Hashed() {
		d.Hashed = append(d.Hashed, state.Hash)
	}
	return d
}

// count returns the progress at the end of a copy of this content.
func (c content) count() (p transfer.Progress) {
	p = transfer.Progress{
		Accounts: len(c.Accounts), Clients: len(c.Clients), Users: len(c.Users), Tokens: len(c.Tokens),
		Signals: len(c.Signals), Requests: len(c.Requests), Certificates: len(c.Certificates), Jobs: len(c.Jobs), Entries: len(c.Entries),
		Subscriptions: len(c.Webhooks.Subscriptions), SigningKeys: len(c.Webhooks.Keys), Attempts: len(c.Webhooks.Attempts), Dropped: len(c.Webhooks.Dropped),
		Processes: len(c.Portal.Processes), ProcessKeys: len(c.Portal.Keys), Lines: len(c.Portal.Lines),
	}
	for _, d := range slices.Concat(c.Documents, c.Portal.Documents) {
		if d.Size > 0 {
			p.Documents++
			p.Bytes += d.Size
		}
	}
	return p
}
