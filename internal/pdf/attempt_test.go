package pdf

import (
	"errors"
	"testing"
)

// What fails half-way leaves no trace, not even a number.
func TestAttempt(t *testing.T) {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog >>")
	u := mustOpen(t, b.table(2, "/Root 1 0 R")).NewUpdate()
	kept := u.Add([]byte("(kept)"))
	failure := errors.New("half-way")
	err := u.Attempt(func(draft *Update) error {
		draft.Set(kept, []byte("(changed)"))
		draft.Add([]byte("(added)"))
		return failure
	})
	if source, _ := u.Source(kept); !errors.Is(err, failure) || string(source) != "(kept)" {
		t.Errorf("%s, error %v", source, err)
	}
	var added Ref
	err = u.Attempt(func(draft *Update) error {
		draft.Set(kept, []byte("(changed)"))
		added = draft.Add([]byte("(added)"))
		return nil
	})
	if source, _ := u.Source(kept); err != nil || string(source) != "(changed)" || added.Num != kept.Num+1 {
		t.Errorf("%s, %v, error %v", source, added, err)
	}
}
