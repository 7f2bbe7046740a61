// Package validation is what EN 319 102-1 says of signatures of every format: whether a timestamp
// proves its time, and how the signer's certificate is judged as of the earliest time that is proven.
// What a signature or a timestamp is over, and what it carries, the format knows.
package validation

import (
	"time"

	"github.com/innsigli/innsigli/internal/pki/evidence"
)

// Judge judges by the data that a document carries, as of a time, and by what else can be had.
type Judge struct {
	Data   *evidence.Data
	Time   time.Time // of the judgement
	Online *Online   // nil: nobody is asked
}
