package storagetest

import (
	"context"
	"crypto"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// examples are records of all types. The records of a type together have a value in every field. If fields are
// optional, one record of the type leaves them empty.
type examples struct {
	accounts      []account.Account
	clients       []account.Client // of the account "a"
	tokens        []account.TokenRecord
	lines         []account.Line // of the account "a"
	signals       []busysignal.Signal
	requests      []signing.Request
	certificates  []signing.KeptCertificate
	users         []sandbox.User // of the account "a"
	authority     []byte
	documents     []exampleDocument
	leased        storage.Lease
	waiting       storage.Job
	parked        storage.Job
	entries       []storage.Entry
	batches       []storage.Batch
	subscriptions []delivery.Subscription // of the account "a"
	keys          []delivery.SigningKey
	attempts      []delivery.Attempt // of the subscription "s", the latest first
	dropped       []delivery.Dropped // for the subscription "s"
	processes     []portal.Process
	processKeys   []portal.Key
	pages         []storage.Record
}

// exampleDocument is a document with the ID that it has in a golden file.
type exampleDocument struct {
	id        string
	base      string
	revisions []storage.Revision
	kept      bool
}

// goldenExamples returns the records that are in the golden files.
func goldenExamples() examples {
	paid, latest, created := exampleLine("paid", "a", 1), exampleKey(2), exampleProcessKey("created")
	paid.Free, latest.EndsAt, created.Until = false, time.Time{}, time.Time{}
	asked, made := exampleEntry("r", "signature.asked", 0), exampleEntry("p", "process.created", 1)
	asked.Seq, made.Seq = 1, 2
	asked.Salt, made.Salt = goldenSalts[0], goldenSalts[1]
	leased, waiting, parked := goldenJobs()
	ended := exampleProcess("p")
	ended.EndedAt = after(4)
	return examples{
		accounts: []account.Account{exampleAccount("a"), {ID: id("b"), Name: "b", CreatedAt: base, ClosedAt: after(3)}},
		clients:  goldenClients(),
		tokens:   goldenTokens(),
		lines:    []account.Line{exampleLine("free", "a", 0), paid},
		signals:  goldenSignals(),
		requests: []signing.Request{exampleRequest("r"), {
			ID: id("plain"), Account: id("a"), CreatedAt: after(1), UpdatedAt: after(2), Expires: after(3), Phase: signing.Ended,
			Person: idp.Person{Account: id("a"), Method: idp.App, Kennitala: "0101302989"}, Level: ades.LT, Document: id("gone"),
		}},
		certificates: []signing.KeptCertificate{exampleCertificate("0101302989")},
		users:        []sandbox.User{exampleUser("010130-2989")},
		authority:    []byte{0, 1, 255, 'a'},
		documents:    goldenDocuments(),
		leased:       leased, waiting: waiting, parked: parked,
		entries: []storage.Entry{asked, made}, batches: []storage.Batch{exampleBatch(1, asked, made)},
		subscriptions: []delivery.Subscription{
			exampleSubscription("s"),
			{ID: id("fresh"), Account: id("a"), URL: "https://x.example", EventTypes: []string{"e"}, CreatedAt: base, UpdatedAt: base, Secret: []byte{1}},
		},
		keys: []delivery.SigningKey{exampleKey(1), latest},
		attempts: []delivery.Attempt{
			exampleAttempt("s", "e", 1),
			{Subscription: id("s"), Event: id("ping"), Type: "webhook.ping", Purpose: delivery.ForPing, At: base, Duration: 1, Status: 200},
		},
		dropped:     []delivery.Dropped{exampleDropped("s", "e", 0)},
		processes:   []portal.Process{ended, invited("q", "a", 1)},
		processKeys: []portal.Key{exampleProcessKey("k"), created},
		pages:       []storage.Record{exampleRecord("v", 1), {Key: []byte{0, 255}, Expires: base}},
	}
}

// goldenClients returns a client with two secrets, and one whose first secret was removed.
func goldenClients() []account.Client {
	second := account.Secret{ID: "second", Hash: []byte{0, 255}, CreatedAt: after(1), UsedAt: after(2)}
	two, removed := exampleClient("c", "a"), exampleClient("d", "a")
	two.Secrets, two.UsedAt = append(two.Secrets, second), after(2)
	removed.Secrets, removed.Scopes = []account.Secret{second}, nil
	return []account.Client{two, removed}
}

// goldenTokens returns a token, and one that does not name the secret with which it was issued.
func goldenTokens() []account.TokenRecord {
	unnamed := exampleToken("unnamed")
	unnamed.Secret, unnamed.Scopes = "", nil
	return []account.TokenRecord{exampleToken("t"), unnamed}
}

// goldenSignals returns a busy signal that is free, and two that are held.
func goldenSignals() []busysignal.Signal {
	user, named, unnamed := "þór", exampleSignal("named"), exampleSignal("unnamed")
	named.Holder = &busysignal.Holder{ID: id("r"), UserID: &user, Since: after(1)}
	unnamed.Holder = &busysignal.Holder{ID: id("r"), Since: after(1)}
	return []busysignal.Signal{exampleSignal("free"), named, unnamed}
}

// goldenDocuments returns a document with a revision, and one that is not kept.
func goldenDocuments() []exampleDocument {
	states := []storage.Midstate{{Hash: crypto.SHA256, Offset: 24, State: []byte{0, 255}}, {Hash: crypto.SHA512, Offset: 24, State: []byte{1}}}
	return []exampleDocument{
		{id: id("document"), base: "%PDF-1.7\n\x00\xff", kept: true, revisions: []storage.Revision{{Base: 11, Bytes: []byte("“漢字”\n"), Hashed: states}}},
		{id: id("image"), base: "an image"},
	}
}

// withoutLaterFields returns the records as earlier versions stored them, which stored no end of a process or
// an account and parked no jobs.
func (e examples) withoutLaterFields() examples {
	e = e.beforeChain()
	e.accounts[1].ClosedAt, e.processes[0].EndedAt, e.parked = time.Time{}, time.Time{}, storage.Job{}
	return e
}

// beforeChain returns the records as the version stored them that had neither the chain of the evidence log nor warnings
// about documents.
func (e examples) beforeChain() examples {
	e.accounts[0].Documents, e.processes[0].Warnings = "", nil
	e.entries = slices.Clone(e.entries)
	for i := range e.entries {
		e.entries[i].Salt = nil
	}
	e.batches = nil
	return e
}

// goldenSalts are the salts of the entries.
var goldenSalts = [][]byte{[]byte("the first salt: "), []byte("the second one: ")}

// goldenJobs returns a leased job, one whose lease was returned, and a parked one.
func goldenJobs() (leased storage.Lease, waiting, parked storage.Job) {
	leased = storage.Lease{Job: uniqueJob("k", "leased", "unique"), Token: id("lease"), Until: base.Add(lease)}
	waiting, parked = exampleJob("k", "waiting", 1), exampleJob("failing", "parked", 2)
	leased.ID, leased.Attempt = id("leased"), 1
	waiting.ID, waiting.Attempt = id("waiting"), 1
	parked.ID = id("parked")
	parked.Failures, parked.Interruptions, parked.LastError, parked.FailedAt, parked.Parked = 3, 2, "the mail server refused the connection", after(2), true
	return leased, waiting, parked
}

// WriteExamples writes records of all types to an empty backend.
//
// The backend chooses the IDs of documents and jobs and the tokens of leases. WriteExamples returns each of
// them followed by its value in the golden files, as the arguments of strings.NewReplacer.
func WriteExamples(t *testing.T, b Backend) (renamed []string) {
	t.Helper()
	e := goldenExamples()
	for _, d := range e.documents {
		renamed = append(renamed, writeDocument(t, b, d), d.id)
	}
	renamed = append(renamed, writeJobs(t, b, e)...)
	if b.Buckets != nil {
		draw(t, b.Buckets, "bucket", slowRate, 1000)
	}
	do(t, b, func(ctx context.Context) error {
		return errors.Join(
			each(ctx, e.accounts, b.Accounts.AddAccount),
			each(ctx, e.clients, b.Accounts.AddClient),
			each(ctx, e.tokens, b.Accounts.AddToken),
			each(ctx, e.lines, b.Accounts.AddLine),
			each(ctx, e.signals, b.BusySignals.AddSignal),
			each(ctx, e.requests, b.Requests.CreateRequest),
			each(ctx, e.certificates, b.Requests.KeepCertificate),
			each(ctx, e.users, b.Sandbox.CreateUser),
			b.Sandbox.SaveAuthority(ctx, e.authority),
			b.EvidenceLog.Record(ctx, e.entries...),
			each(ctx, e.batches, func(ctx context.Context, batch storage.Batch) error {
				return b.EvidenceLog.AddBatch(ctx, batch, goldenSalts)
			}),
			each(ctx, e.subscriptions, func(ctx context.Context, s delivery.Subscription) error {
				return b.Webhooks.CreateSubscription(ctx, s, manySubscriptions)
			}),
			each(ctx, e.keys, b.Webhooks.CreateKey),
			each(ctx, e.attempts, b.Webhooks.AddAttempt),
			each(ctx, e.dropped, b.Webhooks.AddDropped),
			each(ctx, e.processes, b.Processes.CreateProcess),
			each(ctx, e.processKeys, b.Processes.CreateKey),
			each(ctx, e.pages, b.Pages.PutRecord),
		)
	})
	return renamed
}

// each writes the records of a list.
func each[R any](ctx context.Context, list []R, write func(context.Context, R) error) (err error) {
	for _, r := range list {
		err = errors.Join(err, write(ctx, r))
	}
	return err
}

// writeDocument creates a document and returns its ID.
func writeDocument(t *testing.T, b Backend, d exampleDocument) string {
	t.Helper()
	ref, err := b.Documents.Create(t.Context(), strings.NewReader(d.base), 100)
	if err != nil {
		t.Fatal(err)
	}
	if d.kept {
		do(t, b, func(ctx context.Context) error { return b.Documents.Keep(ctx, ref.ID) })
	}
	appendRevisions(t, b, ref, d.revisions...)
	return ref.ID
}

// writeJobs enqueues the jobs, claims those that are not parked, and returns the lease of the second one.
func writeJobs(t *testing.T, b Backend, e examples) (renamed []string) {
	t.Helper()
	enqueue(t, b, e.leased.Job)
	first := claimOne(t, b, e.leased.Due)
	enqueue(t, b, e.waiting)
	second := claimOne(t, b, e.waiting.Due)
	do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, second, e.waiting.Due) })
	enqueue(t, b, e.parked)
	parked, err := b.Jobs.List(t.Context(), storage.JobQuery{Kind: e.parked.Kind, Limit: 10})
	if err != nil || len(parked) != 1 {
		t.Fatalf("parked jobs: %v, %v", parked, err)
	}
	return []string{first.ID, e.leased.ID, first.Token, e.leased.Token, second.ID, e.waiting.ID, parked[0].ID, e.parked.ID}
}

// ReadExamples fails the test unless the backend has the records of [WriteExamples], with the IDs and tokens of
// the golden files. To read jobs it claims them, and to read the bucket it draws from it.
func ReadExamples(t *testing.T, b Backend) { readExamples(t, b, goldenExamples()) }

// ReadExamplesBeforeChain is ReadExamples for the golden files of the version that had neither the chain of the evidence
// log nor warnings about documents.
func ReadExamplesBeforeChain(t *testing.T, b Backend) {
	readExamples(t, b, goldenExamples().beforeChain())
}

// ReadEarlierExamples is ReadExamples for the golden files of earlier versions.
func ReadEarlierExamples(t *testing.T, b Backend) {
	readExamples(t, b, goldenExamples().withoutLaterFields())
}

func readExamples(t *testing.T, b Backend, e examples) {
	ctx := t.Context()
	is(t, e.accounts)(b.Accounts.Accounts(ctx))
	is(t, e.clients)(b.Accounts.Clients(ctx, id("a")))
	is(t, e.lines)(lines(ctx, t, b, id("a"), base, after(2)), nil)
	is(t, e.requests)(b.Requests.RequestsBefore(ctx, after(2), 10))
	is(t, e.requests[:1])(b.Requests.Unfinished(ctx, after(2), 10))
	is(t, e.requests[:1])(b.Requests.Abandoned(ctx, id("a"), after(2), 10))
	is(t, e.requests[0])(b.Requests.RequestByKey(ctx, e.requests[0].Key.Client, e.requests[0].Key.Key))
	is(t, e.users)(b.Sandbox.Users(ctx, id("a")))
	is(t, e.users[0])(b.Sandbox.UserByKennitala(ctx, id("a"), idp.NormalizeKennitala(e.users[0].Kennitala)))
	is(t, e.users[0])(b.Sandbox.UserByPhone(ctx, id("a"), e.users[0].Phone))
	is(t, e.authority)(b.Sandbox.Authority(ctx))
	is(t, e.entries)(b.EvidenceLog.EntriesAfter(ctx, 0, 10))
	is(t, e.batches)(b.EvidenceLog.Batches(ctx, 0, 10))
	is(t, e.entries[1:])(b.EvidenceLog.Entries(ctx, id("p")))
	is(t, e.subscriptions)(b.Webhooks.Subscriptions(ctx, id("a")))
	is(t, e.keys)(b.Webhooks.Keys(ctx))
	is(t, e.attempts)(attemptsOf(ctx, t, b, id("s")), nil)
	is(t, withoutBodies(e.dropped))(b.Webhooks.Dropped(ctx, id("s")))
	is(t, e.processes[0])(b.Processes.ProcessByLink(ctx, e.processes[0].Participants[0].Link.Was))
	is(t, e.processes[:1])(b.Processes.ListProcesses(ctx, portal.Listing{Account: id("a"), Origin: portal.Web, Status: portal.Declined}, portal.Position{}, 10))
	is(t, e.processes[1:])(b.Processes.ListProcesses(ctx, portal.Listing{Account: id("a"), Origin: portal.API, Status: portal.Waiting}, portal.Position{}, 10))
	is(t, e.processes[:1])(b.Processes.Ended(ctx, after(5), 10))
	is(t, e.processes[1:])(b.Processes.Waiting(ctx, id("a"), base, 10))
	is(t, []portal.Process{e.processes[1], e.processes[0]})(b.Processes.Unopened(ctx, after(10).Add(portal.InvitationTime), 10))
	for _, want := range e.tokens {
		is(t, want)(b.Accounts.Token(ctx, want.Hash))
	}
	for _, want := range e.signals {
		is(t, want)(b.BusySignals.Signal(ctx, want.ID))
	}
	for _, want := range e.certificates {
		is(t, want)(b.Requests.KeptCertificate(ctx, want.Person))
	}
	checkProcessKeys(t, b, e.processKeys...)
	checkRecords(t, b, e.pages...)
	readDocuments(t, b, e.documents)
	readJobs(t, b, e.leased, e.waiting)
	if e.parked.ID != "" {
		is(t, storage.StoredJob{Job: e.parked})(b.Jobs.Job(ctx, e.parked.ID))
	}
	if b.Buckets != nil {
		if _, full := draw(t, b.Buckets, "bucket", slowRate, 0); full == 0 {
			t.Error("the bucket is full")
		}
	}
}

// is returns a function that fails the test unless its arguments are the value wanted and no error.
func is[T any](t *testing.T, want T) func(got T, err error) {
	return func(got T, err error) {
		t.Helper()
		checkRead(t, got, err, want)
	}
}

// readDocuments reads documents, and sweeps those that are not kept.
func readDocuments(t *testing.T, b Backend, documents []exampleDocument) {
	t.Helper()
	for _, d := range documents {
		content, hashed := d.base, []storage.Midstate(nil)
		for _, r := range d.revisions {
			content, hashed = content+string(r.Bytes), r.Hashed
		}
		blob := openBlob(t, b, d.id)
		checkBlob(t, blob, []byte(content))
		is(t, hashed)(blob.Hashed(), nil)
	}
	is(t, 1)(b.Documents.Sweep(t.Context(), time.Now()))
	openBlob(t, b, documents[0].id)
	checkNoDocument(t, b, documents[1].id)
}

// readJobs claims the waiting job, returns the lease of the leased one, and claims that.
func readJobs(t *testing.T, b Backend, leased storage.Lease, waiting storage.Job) {
	t.Helper()
	waiting.Attempt++
	is(t, waiting)(claimOne(t, b, waiting.Due).Job, nil)
	is(t, map[string]time.Time{leased.Kind: leased.Until})(b.Jobs.NextDue(t.Context(), leased.Kind))
	do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, leased, leased.Due) })
	leased.Attempt++
	is(t, leased.Job)(claimOne(t, b, leased.Due).Job, nil)
	enqueue(t, b, leased.Job) // not added: its Unique exists
	claimNone(t, b, waiting.Due)
}

// base is a time with all the digits that a backend must store.
var base = time.Date(2026, time.March, 1, 12, 30, 15, 123456000, time.UTC)

// noDocument is an ID of no document.
var noDocument = id("no document")

// id returns the UUID that a test calls by a short name.
func id(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).String()
}

func exampleAccount(name string) account.Account {
	return account.Account{ID: id(name), Name: "Þór " + name, PaymentMethod: true, Quota: 1 << 40, Admins: []string{"admin@example.is", "þór@example.is"}, FreeUsed: 1 << 41, Stored: 1 << 42, Documents: "refuse:JavaScript,XFA", CreatedAt: base}
}

func exampleClient(name, of string) account.Client {
	hash := sha256.Sum256([]byte(name))
	return account.Client{
		ID:        "client " + name,
		AccountID: id(of),
		Name:      name,
		Secrets:   []account.Secret{{ID: account.FirstSecret, Hash: hash[:], CreatedAt: base}},
		Scopes:    []string{account.ScopePortalWrite, account.ScopeSignatures},
		CreatedAt: base,
	}
}

func exampleToken(name string) account.TokenRecord {
	hash := sha256.Sum256([]byte(name))
	return account.TokenRecord{
		Hash:      hash[:],
		ClientID:  "client c",
		Secret:    account.FirstSecret,
		AccountID: id("a"),
		Scopes:    []string{account.ScopeSignatures},
		IssuedAt:  base,
		ExpiresAt: base.Add(time.Hour),
	}
}

func exampleSignal(name string) busysignal.Signal {
	return busysignal.Signal{ID: id(name), Account: id("a"), CreatedAt: base, UsedAt: base}
}
