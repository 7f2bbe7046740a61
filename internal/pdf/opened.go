package pdf

import (
	"errors"
	"fmt"
	"io"
)

// Opened calls use with the file as its cross-reference has it, and where that turns out
// to be broken, with the file rebuilt from its objects, as viewers do without a word. A
// signed file is not rebuilt, nor one that is damaged in another way: its cross-reference
// would be replaced by what other readers need not agree with. Errors are those of [Open],
// [Rebuild] and use.
func Opened(r io.ReaderAt, size int64, use func(*File) error) error {
	file, err := Open(r, size)
	broken := errors.Is(err, ErrDamaged)
	if err == nil {
		err = use(file)
		broken = errors.Is(err, ErrMisplaced) || errors.Is(err, ErrNoPages)
	}
	if !broken {
		return err
	}
	rebuilt, again := Rebuild(r, size)
	if again == nil {
		again = use(rebuilt)
	}
	if errors.Is(again, ErrDamaged) || errors.Is(again, ErrNoPages) {
		return fmt.Errorf("%w; %w", err, again)
	}
	return again
}
