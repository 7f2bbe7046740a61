package pdf

import (
	"errors"
	"testing"
)

// An earlier revision is what the file was, and what reading it takes is taken from the file's own bound:
// thousands of revisions of a small file are no way around that.
func TestEarlier(t *testing.T) {
	before := tableFile()
	f := mustOpen(t, updatedCatalog(t, before))
	earlier, err := f.Earlier(int64(len(before)))
	if err != nil || earlier.Size() != int64(len(before)) || len(earlier.sections) != 1 || len(f.sections) != 2 {
		t.Fatalf("%v, %+v", err, earlier)
	}
	took := f.work
	for opened := range 100 {
		if _, err := f.Earlier(int64(len(before))); err != nil {
			break
		}
		if opened > 10 {
			t.Fatal("there is no end to it")
		}
		f.spend((minWork + workPerByte*f.size) / 8) // for as long as this would take
	}
	if _, err := f.Earlier(int64(len(before))); !errors.Is(err, ErrLimit) || !errors.Is(earlier.CheckBudget(), ErrLimit) || took < int64(len(before)) {
		t.Errorf("%v, %v, %d at first", err, earlier.CheckBudget(), took)
	}
}
