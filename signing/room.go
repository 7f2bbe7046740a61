package signing

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/innsigli/innsigli/ades"
)

// XML is read whole to be signed: as long as a document is worked on, it takes several times its length of
// memory.
const (
	// smallXML is the length in bytes up to which documents have room of their own. Whoever sends those,
	// as nearly everybody does, waits for no large one, which may be in work for a minute: while evidence
	// for its signature is asked for, too.
	smallXML = 1 << 20
	// smallXMLAtOnce and largeXMLAtOnce bound what is read at once, in bytes.
	smallXMLAtOnce = 16 << 20
	largeXMLAtOnce = 48 << 20
	// xmlPatience is how long one waits until it is prepared. Then its turn comes with a later poll.
	xmlPatience = 8 * time.Second
)

// errNoRoom: there was none in time for another document.
var errNoRoom = fmt.Errorf("signing: waiting for other documents: %w", ades.ErrUnavailable)

// rooms are where XML is read.
type rooms struct{ small, large *semaphore.Weighted } // one for each byte

func newRooms() rooms {
	return rooms{semaphore.NewWeighted(smallXMLAtOnce), semaphore.NewWeighted(largeXMLAtOnce)}
}

// take waits until there is room for a document of a size. done is to be called when it is not read any
// longer. The error is errNoRoom.
func (r rooms) take(ctx context.Context, size int64) (done func(), err error) {
	room := r.large
	if size <= smallXML {
		room = r.small
	}
	size = min(size, largeXMLAtOnce)
	if err := room.Acquire(ctx, size); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoRoom, err)
	}
	return func() { room.Release(size) }, nil
}
