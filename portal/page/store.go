package page

import "github.com/innsigli/innsigli/storage"

// Record is what the page remembers for a while: a visit, or how often something was begun. Its key is
// a SHA-256, and its value is a secret.
type Record = storage.Record

// Store keeps records. Two that read one in transactions, be it there or not, do so one after the
// other, so what is counted in them is counted right.
type Store = storage.Records
