package portal

import (
	"context"
	"iter"
	"time"
)

// Store keeps processes and the idempotency keys they were created with. Methods that write join the
// transaction of their context and answer storage.ErrNoTx outside one.
type Store interface {
	ProcessStore
	KeyStore
}

// ProcessStore keeps processes by ID.
type ProcessStore interface {
	// CreateProcess adds a process; storage.ErrExists when its ID is taken.
	CreateProcess(ctx context.Context, p Process) error
	// UpdateProcess replaces a process; storage.ErrNotFound.
	UpdateProcess(ctx context.Context, p Process) error
	// DeleteProcess removes a process; storage.ErrNotFound.
	DeleteProcess(ctx context.Context, id string) error
	// Process returns a process of any account and origin; storage.ErrNotFound. One that is read
	// in a transaction stays as it is until that ends, as does what the next one returns.
	Process(ctx context.Context, id string) (Process, error)
	// ProcessByLink returns the process of whose [Process.LinkHashes] that is one;
	// storage.ErrNotFound.
	ProcessByLink(ctx context.Context, hash []byte) (Process, error)
	// Waiting returns up to limit processes of an account whose [Process.WaitsUntil] is after the
	// time given, in any order. One whose [Process.NotedStatus] is Expired may be among them or not.
	Waiting(ctx context.Context, account string, after time.Time, limit int) ([]Process, error)
	// Unopened returns up to limit processes of all accounts whose [Process.UnopenedUntil] is not
	// zero and not after the time given, the earliest first.
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

// Listing chooses processes.
type Listing struct {
	Account string
	Origin  Origin
	Status  Status // the [Process.NotedStatus]; empty: any
}

// Position is a place in the order of creation. The zero Position is before every process.
type Position struct {
	CreatedAt time.Time
	ID        string
}

// KeyStore keeps idempotency keys by client and value.
type KeyStore interface {
	// CreateKey adds an idempotency key; storage.ErrExists when its client has it already.
	CreateKey(ctx context.Context, k Key) error
	// UpdateKey replaces the key of that client and value; storage.ErrNotFound.
	UpdateKey(ctx context.Context, k Key) error
	// Key returns a client's key; storage.ErrNotFound. One that is read in a transaction stays
	// as it is until that ends.
	Key(ctx context.Context, client, value string) (Key, error)
	// DeleteKey removes a client's key; one that does not exist is no error.
	DeleteKey(ctx context.Context, client, value string) error
	// DeleteKeys removes keys that were created at the time given or before, the earliest first
	// and at most limit of them, and says how many.
	DeleteKeys(ctx context.Context, until time.Time, limit int) (int, error)
}

// Key is an idempotency key with what its process was created from (spec 1.8). It
// outlives the process.
type Key struct {
	Client      string // ID of the API client
	Value       string
	Fingerprint string // of the body
	CreatedAt   time.Time
	Process     string    // ID; empty: it is being created
	Until       time.Time // by when it is created, or whoever was at it has died
}
