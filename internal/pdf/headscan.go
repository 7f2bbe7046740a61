package pdf

import "encoding/binary"

// headScan finds every "12 0 obj" in bytes that it is given one by one, wherever it stands:
// readers that rebuild a cross-reference look into streams and comments too. They differ
// in what they take for white space, for a number and for a comment, so all of it counts.
// Its value says how far each way to read the bytes has got.
type headScan uint16

const (
	inNumber headScan = 1 << iota
	behindNumber
	inComment // behind the number
	inGeneration
	behindGeneration
	inSecondComment
	afterO
	afterB
)

// next takes a byte. found says that a head ended with it.
func (s headScan) next(c byte) (after headScan, found bool) {
	switch {
	case s == 0 && !isNumeric(c):
		return 0, false
	case isNumeric(c):
		after = inNumber | s.to(behindNumber|inGeneration, inGeneration)
	case isSpace(c) || c == '\v' || c == 0x85 || c == 0xa0: // the latter are white space elsewhere
		after = s.to(inNumber|behindNumber, behindNumber) | s.to(inGeneration|behindGeneration, behindGeneration)
	case c == '%':
		after = s.to(inNumber|behindNumber, inComment) | s.to(inGeneration|behindGeneration, inSecondComment)
	case c == 'o':
		after = s.to(inGeneration|behindGeneration, afterO)
	case c == 'b':
		after = s.to(afterO, afterB)
	case c == 'j':
		found = s&afterB != 0
	}
	if c == '\r' || c == '\n' {
		return after | s.to(inComment, behindNumber) | s.to(inSecondComment, behindGeneration), found
	}
	return after | s&(inComment|inSecondComment), found
}

// to is a state for those that are in one of others.
func (s headScan) to(from, state headScan) headScan {
	if s&from == 0 {
		return 0
	}
	return state
}

// eachHead calls visit with the offset behind every object head from an offset on. Numbers
// may stand before it: those of startxref do, with a marker that looks like a comment.
func (f *File) eachHead(from int64, visit func(end int64) bool) (bool, error) {
	const window = 256 << 10
	scan := behindNumber | behindGeneration
	for ; from < f.size; from += window {
		if err := f.Spent(); err != nil {
			return false, err
		}
		b, err := f.read(from, int(min(window, f.size-from)))
		if err != nil {
			return false, err
		}
		for i := 0; i < len(b); i++ {
			after, found := scan.next(b[i])
			if found && !visit(from+int64(i)+1) {
				return false, nil
			}
			if after == scan { // as in the padding of a signature
				i += repeated(b[i:])
			}
			scan = after
		}
	}
	return true, nil
}

// repeated returns how often the first byte stands behind itself.
func repeated(b []byte) int {
	const word = 8
	n, same := 1, uint64(b[0])*0x0101010101010101
	for n+word <= len(b) && binary.LittleEndian.Uint64(b[n:]) == same {
		n += word
	}
	for n < len(b) && b[n] == b[0] {
		n++
	}
	return n - 1
}
