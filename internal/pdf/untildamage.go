package pdf

import (
	"compress/zlib"
	"errors"
	"io"
)

// untilDamage ends where deflated data does, even if it was cut off there or its checksum is
// wrong: writers get both wrong often enough that no viewer minds. Other errors stay.
type untilDamage struct{ r io.Reader }

func (u *untilDamage) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if errors.Is(err, zlib.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
