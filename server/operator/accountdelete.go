package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Deletion says how [Operator.DeleteAccount] works. The zero value deletes, and refuses to while a signature is under way.
type Deletion struct {
	DryRun bool // count what would be deleted, and change nothing
	Force  bool // end signing requests that are under way, as the deletion of a process does
}

// AccountContent is how many records belong to an account. Documents go with their processes and requests.
type AccountContent struct {
	Clients       int `json:"clients"`
	Tokens        int `json:"tokens"`
	Keys          int `json:"idempotencyKeys"` // of the creation of processes
	Processes     int `json:"processes"`
	Requests      int `json:"requests"` // signing requests, also those that have ended
	UnderWay      int `json:"underWay"` // of the requests, with which a signature or its result would be lost
	Subscriptions int `json:"subscriptions"`
	Attempts      int `json:"attempts"` // at deliveries to the subscriptions
	Dropped       int `json:"dropped"`  // events that were given up
	Jobs          int `json:"jobs"`
	Users         int `json:"sandboxUsers"`
	Signals       int `json:"busySignals"`
	Lines         int `json:"ledgerLines"`
}

// The kinds of entries in the evidence log about an account, whose ID is their subject. The last statement before
// account.deleted keeps what the account owes, which bookkeeping needs when its ledger is gone.
const (
	closedEntry    = "account.closed"    // no facts
	statementEntry = "account.statement" // facts: statementFacts; there is none if the ledger was empty
	deletedEntry   = "account.deleted"   // no facts
)

// statementFacts are the signatures of an account by month, of all ledger lines that were deleted so far: each statement
// replaces the one before it. Amounts are in króna, without value-added tax.
type statementFacts struct {
	Name   string       `json:"name"`
	Months []monthFacts `json:"months"`
}

type monthFacts struct {
	Month   string `json:"month"` // such as 2026-11
	Signing int    `json:"signingApi"`
	Portal  int    `json:"portalApi"`
	Free    int    `json:"free"`
	Price   int    `json:"price"`
	Amount  int    `json:"amount"`
}

const (
	// deleteBatch is how many records one transaction deletes. Processes and signing requests have one each.
	deleteBatch = 100
	// ledgerBatch is how many ledger lines one transaction deletes, which records a statement of all months.
	ledgerBatch = 5000
	// maxPasses bounds how often the deletion goes through all records because it found some.
	maxPasses = 10
	// maxNamed is how many requests a refusal names.
	maxNamed = 10
)

// lists are the lists of a store that a deletion needs, as *bolt.DB and *postgres.DB have them.
type lists interface {
	RequestsOf(ctx context.Context, account string) iter.Seq2[signing.Request, error]
	AllTokens(ctx context.Context) iter.Seq2[account.TokenRecord, error]
	AllSignals(ctx context.Context) iter.Seq2[busysignal.Signal, error]
	AllJobs(ctx context.Context) iter.Seq2[storage.Job, error]
	AllKeys(ctx context.Context) iter.Seq2[portal.Key, error]
}

// deletion is a call of DeleteAccount.
type deletion struct {
	*Service
	lists
	id       string
	options  Deletion
	done     AccountContent
	progress func(AccountContent) error
	clients  map[string]bool // IDs of its clients so far, by which idempotency keys are found
	groups   map[string]bool // of jobs: the account's ID, and those of its subscriptions so far
}

// DeleteAccount implements [Operator]. One transaction checks that nothing is under way and closes the account, so that
// nothing is added to it from then on. The account's own record is deleted last, so that the deletion can go on after a crash
// between any two transactions. What refers to a record is deleted before it.
//
// Tokens, idempotency keys, busy signals, jobs and (on Postgres) ended requests are found only by going through those of all
// accounts. That is done outside of transactions, which others would wait for. Each transaction reads what is indexed by account: the
// one that closes the account its requests that have not ended, which are those of about a day; the last one the subscriptions
// and users, and the first few processes, requests and ledger lines, if any are left. What servers of an earlier version added
// just before the last transaction is deleted after it; if the program dies in between, tokens, keys, signals and requests are deleted
// when they expire, and jobs end.
func (s *Service) DeleteAccount(ctx context.Context, id string, options Deletion, progress func(AccountContent) error) error {
	l, ok := s.store.(lists)
	if !ok {
		return errors.New("the backend of the store cannot list the records of an account")
	}
	d := &deletion{
		Service: s, lists: l, id: id, options: options, progress: progress,
		clients: make(map[string]bool), groups: map[string]bool{id: true},
	}
	if options.DryRun {
		if _, err := s.Account(ctx, id); err != nil {
			return accountError(id, err)
		}
		clients, err := s.Clients(ctx, id)
		if err != nil {
			return err
		}
		d.done.Clients = len(clients)
		return d.pass(ctx)
	}
	if !options.Force {
		if err := d.checkUnderWay(ctx, d.RequestsOf(ctx, id)); err != nil {
			return err
		}
	}
	if err := s.store.InTx(ctx, d.close); err != nil {
		return accountError(id, err)
	}
	for range maxPasses {
		before := d.done
		if err := d.pass(ctx); err != nil {
			return err
		}
		if d.done != before { // a server of an earlier version, which adds to a closed account, may have added more meanwhile
			continue
		}
		if gone, err := d.finish(ctx); err != nil {
			return err
		} else if gone {
			return d.run(ctx, d.unindexed())
		}
	}
	return fmt.Errorf("servers still add records to account %s after %d passes: stop servers of earlier versions, and try again", id, maxPasses)
}

// accountError returns what an operator is told of an error about an account.
func accountError(id string, err error) error {
	if errors.Is(err, account.ErrNotFound) {
		return noAccount(id)
	}
	return err
}

// close closes the account in the transaction of its context, unless signatures are under way. Requests are stored in
// transactions that lock the account and look whether it is open, so that none begins meanwhile. Those that had ended before
// the transaction stay as they are, and one that began since has not ended with a signature that can be completed: the
// server first tries that for 15 minutes.
func (d *deletion) close(ctx context.Context) error {
	a, err := d.Account(ctx, d.id)
	if err != nil {
		return err
	}
	if !d.options.Force {
		unended := sequence(d.store.Requests().Abandoned(ctx, d.id, now(ctx).AddDate(1, 0, 0), math.MaxInt32))
		if err := d.checkUnderWay(ctx, unended); err != nil {
			return err
		}
	}
	if a.ClosedAt.IsZero() {
		if err := d.record(ctx, closedEntry, struct{}{}); err != nil {
			return err
		}
	}
	return d.CloseAccount(ctx, d.id)
}

// checkUnderWay returns an error that names those of the signing requests with which a signature, or its result, would be lost.
func (d *deletion) checkUnderWay(ctx context.Context, requests iter.Seq2[signing.Request, error]) error {
	waiting, n := 0, 0
	var recoverable []string
	for r, err := range requests {
		switch {
		case err != nil:
			return err
		case r.Recoverable():
			if n++; n <= maxNamed {
				recoverable = append(recoverable, r.ID)
			}
		case isUnderWay(&r):
			waiting++
		}
	}
	var reasons []string
	if waiting > 0 {
		reasons = append(reasons, fmt.Sprintf("%d signing requests that are under way or not fetched yet: wait until they end", waiting))
	}
	if n > 0 {
		reasons = append(reasons, fmt.Sprintf("%d with a signature that \"innsigli signing complete\" can still complete (%s)", n, strings.Join(recoverable, ", ")))
	}
	if reasons == nil {
		return nil
	}
	return fmt.Errorf("account %s has %s; or delete them with --force", d.id, strings.Join(reasons, ", and "))
}

// isUnderWay reports whether a signature, or its result, would be lost with the request.
func isUnderWay(r *signing.Request) bool {
	return r.Phase != signing.Failed && r.Phase != signing.Ended || r.Recoverable()
}

// step deletes records of one kind.
type step struct {
	what string
	do   func(context.Context) error
}

// unindexed are the steps whose records are not looked for when the account itself is deleted.
func (d *deletion) unindexed() []step {
	return []step{
		{"idempotency keys", d.keys}, {"signing requests", d.requests}, {"jobs", d.jobs}, {"busy signals", d.signals}, {"tokens", d.tokens},
	}
}

// pass deletes all but the account itself and its clients, by which idempotency keys are found.
func (d *deletion) pass(ctx context.Context) error {
	return d.run(ctx, []step{
		{"idempotency keys", d.keys},
		{"processes", d.processes},
		{"signing requests", d.requests},
		{"jobs", d.jobs},
		{"webhook subscriptions", d.subscriptions},
		{"jobs", d.jobs}, // of deliveries that were under way
		{"busy signals", d.signals},
		{"sandbox users", d.users},
		{"the ledger", d.ledger},
		{"tokens", d.tokens},
	})
}

func (d *deletion) run(ctx context.Context, steps []step) error {
	for _, step := range steps {
		if d.options.DryRun && step.what == "jobs" {
			d.done.Jobs = 0 // the second count is the same
		}
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("deleting %s of account %s: %w", step.what, d.id, err)
		}
	}
	return d.progress(d.done)
}

// finish deletes the account with its clients if no record is left that the store finds by its account, and reports whether
// it did.
func (d *deletion) finish(ctx context.Context) (gone bool, err error) {
	var clients []account.Client
	err = d.store.InTx(ctx, func(ctx context.Context) error {
		gone = false
		if _, err := d.Account(ctx, d.id); err != nil { // which locks it
			return err
		}
		if left, err := d.left(ctx); err != nil || left {
			return err
		}
		if clients, err = d.store.Accounts().Clients(ctx, d.id); err != nil {
			return err
		}
		for _, c := range clients {
			if err := d.store.Accounts().DeleteClient(ctx, c.ID); err != nil {
				return err
			}
		}
		if err := d.record(ctx, deletedEntry, struct{}{}); err != nil {
			return err
		}
		gone = true
		return d.store.Accounts().DeleteAccount(ctx, d.id)
	})
	if err != nil || !gone {
		return false, err
	}
	d.done.Clients = len(clients)
	for _, c := range clients {
		d.clients[c.ID] = true
	}
	return true, nil
}

// left reports whether the account still has a process, a request that has not ended, a subscription, a sandbox user or a
// ledger line.
func (d *deletion) left(ctx context.Context) (bool, error) {
	for _, origin := range origins {
		list, err := d.store.Processes().ListProcesses(ctx, portal.Listing{Account: d.id, Origin: origin}, portal.Position{}, 1)
		if err != nil || len(list) > 0 {
			return true, err
		}
	}
	if list, err := d.store.Requests().Abandoned(ctx, d.id, now(ctx).AddDate(1, 0, 0), 1); err != nil || len(list) > 0 {
		return true, err
	}
	if list, err := d.store.Webhooks().Subscriptions(ctx, d.id); err != nil || len(list) > 0 {
		return true, err
	}
	if list, err := d.store.Sandbox().Users(ctx, d.id); err != nil || len(list) > 0 {
		return true, err
	}
	for _, err := range d.lines(ctx) {
		return true, err
	}
	return false, nil
}

// record adds an entry about the account to the evidence log. It joins the transaction.
func (d *deletion) record(ctx context.Context, kind string, facts any) error {
	encoded, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	return d.store.EvidenceLog().Record(ctx, storage.Entry{Subject: d.id, Account: d.id, Kind: kind, At: now(ctx), Facts: encoded})
}

// deleteFrom deletes the records of a list that are wanted, a batch in each transaction, and counts them. A dry run
// counts them alone. Records that are gone already are no error.
func deleteFrom[T any](ctx context.Context, d *deletion, list iter.Seq2[T, error], wanted func(T) bool, count *int, remove func(context.Context, T) error) error {
	var batch []T
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		*count += len(batch)
		if !d.options.DryRun {
			err := d.store.InTx(ctx, func(ctx context.Context) error {
				for _, one := range batch {
					if err := remove(ctx, one); err != nil && !errors.Is(err, storage.ErrNotFound) {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		batch = nil
		return d.progress(d.done)
	}
	for one, err := range list {
		if err != nil {
			return err
		}
		if wanted(one) {
			batch = append(batch, one)
		}
		if len(batch) == deleteBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// sequence makes a sequence of a list that a store returns at once.
func sequence[T any](list []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

func all[T any](T) bool { return true }

// keys deletes the idempotency keys of the account's clients.
func (d *deletion) keys(ctx context.Context) error {
	clients, err := d.store.Accounts().Clients(ctx, d.id)
	if err != nil {
		return err
	}
	for _, c := range clients {
		d.clients[c.ID] = true
	}
	return deleteFrom(ctx, d, d.AllKeys(ctx), func(k portal.Key) bool { return d.clients[k.Client] }, &d.done.Keys,
		func(ctx context.Context, k portal.Key) error {
			return d.store.Processes().DeleteKey(ctx, k.Client, k.Value)
		})
}

var origins = []portal.Origin{portal.API, portal.Web}

// processes deletes the processes with their documents, links, mail and the signature that is under way.
func (d *deletion) processes(ctx context.Context) error {
	remover := d.newRemovers().processes
	for _, origin := range origins {
		for after := (portal.Position{}); ; {
			page, err := d.store.Processes().ListProcesses(ctx, portal.Listing{Account: d.id, Origin: origin}, after, deleteBatch)
			if err != nil {
				return err
			}
			for _, p := range page {
				if !d.options.DryRun {
					if err := remover.Remove(ctx, p.ID); err != nil && !errors.Is(err, portal.ErrNotFound) {
						return err
					}
				}
				d.done.Processes++
				after = portal.Position{CreatedAt: p.CreatedAt, ID: p.ID}
			}
			if err := d.progress(d.done); err != nil {
				return err
			}
			if len(page) < deleteBatch {
				break
			}
		}
	}
	return nil
}

// requests deletes the signing requests with their documents, idempotency keys and jobs.
func (d *deletion) requests(ctx context.Context) error {
	remover := d.newRemovers().requests
	for r, err := range d.RequestsOf(ctx, d.id) {
		if err != nil {
			return err
		}
		if d.done.Requests++; isUnderWay(&r) {
			d.done.UnderWay++
		}
		if !d.options.DryRun {
			if err := remover.Cancel(ctx, r.ID); err != nil {
				return err
			}
		}
		if d.done.Requests%deleteBatch == 0 {
			if err := d.progress(d.done); err != nil {
				return err
			}
		}
	}
	return nil
}

// jobs deletes the jobs of the account and its subscriptions, among them mail to its admins. Those of processes go with them.
// Mail to admins that a server of an earlier version has queued is of no group, and is sent, or given up in time.
func (d *deletion) jobs(ctx context.Context) error {
	hooks, err := d.store.Webhooks().Subscriptions(ctx, d.id)
	if err != nil {
		return err
	}
	for _, one := range hooks {
		d.groups[one.ID] = true
	}
	ours := func(j storage.Job) bool { return d.groups[j.Group] }
	return deleteFrom(ctx, d, d.AllJobs(ctx), ours, &d.done.Jobs, func(ctx context.Context, j storage.Job) error {
		if j.Unique != "" {
			return d.store.Jobs().DropUnique(ctx, j.Kind, j.Unique)
		}
		return d.store.Jobs().Drop(ctx, j.Kind, j.Group)
	})
}

// subscriptions deletes the subscriptions with their log and what was given up. They are switched off first, which ends
// deliveries that are under way.
func (d *deletion) subscriptions(ctx context.Context) error {
	service, store, off := d.hooks(), d.store.Webhooks(), false
	hooks, err := store.Subscriptions(ctx, d.id)
	if err != nil {
		return err
	}
	for _, one := range hooks {
		if !d.options.DryRun {
			if _, err := service.Update(ctx, d.id, one.ID, delivery.Change{Active: &off}); err != nil && !errors.Is(err, delivery.ErrNotFound) {
				return err
			}
		}
		if err := d.attempts(ctx, one.ID); err != nil {
			return err
		}
		err := deleteFrom(ctx, d, sequence(store.Dropped(ctx, one.ID)), all, &d.done.Dropped, func(ctx context.Context, e delivery.Dropped) error {
			_, err := store.RemoveDropped(ctx, e.Subscription, e.Event)
			return err
		})
		if err != nil {
			return err
		}
		d.done.Subscriptions++
		if d.options.DryRun {
			continue
		}
		if err := service.Delete(ctx, d.id, one.ID); err != nil && !errors.Is(err, delivery.ErrNotFound) {
			return err
		}
		if err := d.attempts(ctx, one.ID); err != nil { // of pings that ended before the subscription was deleted
			return err
		}
	}
	return nil
}

// attempts deletes the log of a subscription.
func (d *deletion) attempts(ctx context.Context, subscription string) error {
	if d.options.DryRun {
		return deleteFrom(ctx, d, d.store.Webhooks().Attempts(ctx, subscription), all, &d.done.Attempts, nil)
	}
	return d.batches(ctx, &d.done.Attempts, func(ctx context.Context) (int, error) {
		return d.store.Webhooks().DeleteAttemptsOf(ctx, subscription, deleteBatch)
	})
}

// batches calls remove, in a transaction each time, until it returns 0.
func (d *deletion) batches(ctx context.Context, count *int, remove func(context.Context) (int, error)) error {
	for {
		var n int
		err := d.store.InTx(ctx, func(ctx context.Context) (err error) {
			n, err = remove(ctx)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
		*count += n
		if err := d.progress(d.done); err != nil {
			return err
		}
	}
}

func (d *deletion) signals(ctx context.Context) error {
	return deleteFrom(ctx, d, d.AllSignals(ctx), func(s busysignal.Signal) bool { return s.Account == d.id }, &d.done.Signals,
		func(ctx context.Context, s busysignal.Signal) error {
			return d.store.BusySignals().DeleteSignal(ctx, s.ID)
		})
}

func (d *deletion) users(ctx context.Context) error {
	return deleteFrom(ctx, d, sequence(d.store.Sandbox().Users(ctx, d.id)), all, &d.done.Users,
		func(ctx context.Context, u sandbox.User) error { return d.store.Sandbox().DeleteUser(ctx, d.id, u.ID) })
}

// ledger deletes the ledger. Each transaction records what the account owes by the lines that it deletes.
func (d *deletion) ledger(ctx context.Context) error {
	if d.options.DryRun {
		return deleteFrom(ctx, d, d.lines(ctx), all, &d.done.Lines, nil)
	}
	return d.batches(ctx, &d.done.Lines, func(ctx context.Context) (int, error) {
		a, err := d.Account(ctx, d.id) // which locks it: statements of two deletions do not pass one another
		if err != nil {
			return 0, err
		}
		lines, err := d.store.Accounts().DeleteLines(ctx, d.id, ledgerBatch)
		if err != nil || len(lines) == 0 {
			return 0, err
		}
		facts, err := d.lastStatement(ctx)
		if err != nil {
			return 0, err
		}
		facts.Name = a.Name
		for _, line := range lines {
			facts.add(line)
		}
		return len(lines), d.record(ctx, statementEntry, facts)
	})
}

func (d *deletion) lines(ctx context.Context) iter.Seq2[account.Line, error] {
	return d.store.Accounts().Lines(ctx, d.id, time.Time{}, now(ctx).AddDate(1, 0, 0))
}

// lastStatement returns the statement of the lines that this deletion, or one that broke off before it, has deleted so far.
// An account that was deleted and made anew has the ID of the one before.
func (d *deletion) lastStatement(ctx context.Context) (facts statementFacts, err error) {
	entries, err := d.store.EvidenceLog().Entries(ctx, d.id)
	if err != nil {
		return statementFacts{}, err
	}
	for _, e := range entries {
		switch e.Kind {
		case deletedEntry:
			facts = statementFacts{}
		case statementEntry:
			facts = statementFacts{}
			if err := json.Unmarshal(e.Facts, &facts); err != nil {
				return statementFacts{}, fmt.Errorf("reading entry %d of the evidence log: %w", e.Seq, err)
			}
		}
	}
	return facts, nil
}

// add adds a signature to its month.
func (f *statementFacts) add(line account.Line) {
	name := line.At.UTC().Format("2006-01")
	i, found := slices.BinarySearchFunc(f.Months, name, func(m monthFacts, name string) int { return strings.Compare(m.Month, name) })
	if !found {
		f.Months = slices.Insert(f.Months, i, monthFacts{Month: name})
	}
	m := &f.Months[i]
	s := account.Statement{Signing: m.Signing, Portal: m.Portal, Free: m.Free}
	s.Add(line)
	m.Signing, m.Portal, m.Free, m.Price, m.Amount = s.Signing, s.Portal, s.Free, s.Price, s.Amount
}

func (d *deletion) tokens(ctx context.Context) error {
	return deleteFrom(ctx, d, d.AllTokens(ctx), func(t account.TokenRecord) bool { return t.AccountID == d.id }, &d.done.Tokens,
		func(ctx context.Context, t account.TokenRecord) error {
			return d.store.Accounts().DeleteToken(ctx, t.Hash)
		})
}
