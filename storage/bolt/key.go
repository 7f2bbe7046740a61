package bolt

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"
)

// noLimit asks for all there are.
const noLimit = math.MaxInt

// number is a key that sorts as the number does.
func number(n uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, n)
}

// text is a key for a string. Its length comes first, so that no string's key is
// the beginning of another's.
func text(s string) []byte {
	key := binary.BigEndian.AppendUint32(nil, uint32(len(s)))
	return append(key, s...)
}

// instant is a key that sorts as the time does, to the microsecond. Flipping the
// sign puts the times before 1970 first.
func instant(t time.Time) []byte {
	return number(uint64(t.UnixMicro()) ^ 1<<63)
}

// span is a range of keys, from the first included to the end not included.
type span struct{ from, to []byte }

// every is the span of all keys.
func every() span { return span{} }

// under is the span of the keys that begin with the prefix.
func under(prefix []byte) span {
	to := bytes.Clone(prefix)
	for i := len(to) - 1; i >= 0; i-- {
		if to[i]++; to[i] != 0 {
			return span{from: prefix, to: to[:i+1]}
		}
	}
	return span{from: prefix} // all 0xff: to the end
}

// upTo is the span of the keys of times that are the one given or before.
func upTo(t time.Time) span {
	return span{to: instant(t.Add(time.Microsecond))}
}

// before is the span of the keys of earlier times.
func before(t time.Time) span {
	return span{to: instant(t)}
}

func (s span) holds(key []byte) bool {
	return s.to == nil || bytes.Compare(key, s.to) < 0
}
