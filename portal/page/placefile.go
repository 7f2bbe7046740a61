package page

import (
	"context"
	"crypto"
	"encoding"
	"encoding/hex"
	"io"

	"github.com/innsigli/innsigli/portal"
)

// fileView is what the page tells of the file that is downloaded.
type fileView struct {
	Size   fileSize
	SHA256 string // in hex; empty: to find it out would mean to read the whole file
}

// file looks at the document of a place. [portal.ErrChanged]: it is not any more what it was when the
// place was read.
func (p *Page) file(ctx context.Context, place *portal.ParticipantView) (fileView, error) {
	document, err := p.config.Portal.Open(ctx, place.ID, place.Participant.ID)
	if err != nil {
		return fileView{}, err
	}
	defer document.Close()
	if document.Revision != place.Revision() {
		return fileView{}, portal.ErrChanged
	}
	sum, err := knownSum(document)
	return fileView{sizeOf(document.Size()), hex.EncodeToString(sum)}, err
}

// maxHashed is how much of a file is hashed to show its hash.
const maxHashed = 1 << 20

// knownSum is the SHA-256 of a document of which almost all was hashed when it was stored; nil when that
// is not so.
func knownSum(document portal.DocumentCopy) ([]byte, error) {
	for _, state := range document.Hashed() {
		rest := document.Size() - state.Offset
		if state.Hash != crypto.SHA256 || rest > maxHashed {
			continue
		}
		h := crypto.SHA256.New()
		if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state.State); err != nil {
			continue // it is of another version of Go, and a cache
		}
		if _, err := io.Copy(h, io.NewSectionReader(document, state.Offset, rest)); err != nil {
			return nil, err
		}
		return h.Sum(nil), nil
	}
	return nil, nil
}

// fileSize is the length of the file in what people count in, with the key of the words for it.
type fileSize struct {
	Key   string
	Whole int64
	Tenth int64 // of a megabyte
}

func sizeOf(bytes int64) fileSize {
	const kilo, mega = 1000, 1000 * 1000
	if bytes < mega {
		return fileSize{Key: "place.size.kb", Whole: (bytes + kilo - 1) / kilo}
	}
	return fileSize{"place.size.mb", bytes / mega, bytes % mega * 10 / mega}
}
