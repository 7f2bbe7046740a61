package portal

import (
	"context"
	"iter"
	"time"
)

// Store stores processes and idempotency keys. Methods that write join the transaction of their context. Without a
// transaction they return storage.ErrNoTx.
type Store interface {
	ProcessStore
	KeyStore
}

// ProcessStore stores processes by ID.
type ProcessStore interface {
	// CreateProcess adds a process; storage.ErrExists if the ID exists already.
	CreateProcess(ctx context.Context, p Process) error
	// UpdateProcess replaces a process; storage.ErrNotFound if there is no such process.
	UpdateProcess(ctx context.Context, p Process) error
	// DeleteProcess removes a process; storage.ErrNotFound if there is no such process.
	DeleteProcess(ctx context.Context, id string) error
	// Process returns a process of any account and origin; storage.ErrNotFound if there is no such process. A process
	// that is read in a transaction does not change until the transaction ends, except by the transaction.
	Process(ctx context.Context, id string) (Process, error)
	// ProcessByLink returns the process that has the hash among its [Process.LinkHashes]; storage.ErrNotFound if there
	// is no such process. It does not change either until the transaction ends.
	ProcessByLink(ctx context.Context, hash []byte) (Process, error)
	// Waiting returns up to limit processes of an account whose [Process.WaitsUntil] is after the time given, in any
	// order. It may leave out processes whose [Process.NotedStatus] is Expired.
	Waiting(ctx context.Context, account string, after time.Time, limit int) ([]Process, error)
	// Unopened returns up to limit processes of all accounts whose [Process.UnopenedUntil] is not zero and not after
	// the time given, the earliest first.
	Unopened(ctx context.Context, until time.Time, limit int) ([]Process, error)

	// ListProcesses returns up to limit processes of a list that come after a position, in the order of their creation: by
	// [Process.CreatedAt], and by ID those that were created at the same time. It takes no longer for a long list than
	// for a short one, whatever the status and the position.
	ListProcesses(ctx context.Context, of Listing, after Position, limit int) ([]Process, error)
	// Overdue lists the processes of an account, or of all accounts if it is empty, that have expired before the time
	// given and of which that is not noted: their [Process.NotedStatus] is Waiting and their [Process.WaitsUntil] is
	// before that time, the earliest first. It reads no other processes. Processes that are changed while it runs may be
	// in it or not.
	Overdue(ctx context.Context, account string, before time.Time) iter.Seq2[Process, error]
	// Ended returns up to limit processes of all accounts whose [Process.NotedStatus] is not Waiting and whose
	// [Process.EndedAt], or [Process.CreatedAt] if that is zero, is before the time given, the earliest first.
	Ended(ctx context.Context, before time.Time, limit int) ([]Process, error)
}

// Listing selects processes.
type Listing struct {
	Account string
	Origin  Origin
	Status  Status // the [Process.NotedStatus]; empty: any
}

// Position is a position in the order of creation. The zero Position is before every process.
type Position struct {
	CreatedAt time.Time
	ID        string
}

// KeyStore stores idempotency keys by client and value.
type KeyStore interface {
	// CreateKey adds an idempotency key; storage.ErrExists if the client has a key with that value already.
	CreateKey(ctx context.Context, k Key) error
	// UpdateKey replaces the key of that client and value; storage.ErrNotFound if there is no such key.
	UpdateKey(ctx context.Context, k Key) error
	// Key returns a client's key; storage.ErrNotFound if there is no such key. A key that is read in a transaction does
	// not change until the transaction ends, except by the transaction.
	Key(ctx context.Context, client, value string) (Key, error)
	// DeleteKey removes a client's key. It is no error if there is no such key.
	DeleteKey(ctx context.Context, client, value string) error
	// DeleteKeys removes up to limit keys that were created at the time given or before, the earliest first, and returns
	// how many.
	DeleteKeys(ctx context.Context, until time.Time, limit int) (int, error)
}

// Key is an idempotency key (spec 1.8). The key stays when its process is deleted.
type Key struct {
	Client      string // ID of the API client
	Value       string
	Fingerprint string // of the request's body
	CreatedAt   time.Time
	Process     string    // ID; empty: the process is being created
	Until       time.Time // the end of the reservation, while the process is being created
}
