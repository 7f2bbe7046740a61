package delivery

import (
	"errors"
	"testing"
	"time"
)

// Keys are read every 10 seconds. A store that is away stops nothing for a minute, and is not asked
// with each request.
func TestKeyring(t *testing.T) {
	t.Parallel()
	var ring keyring
	away, reads := error(nil), 0
	numbers := func(after time.Duration) (int, error) {
		keys, err := ring.at(noon.Add(after), func() ([]SigningKey, error) {
			reads++
			return []SigningKey{{Number: reads}}, away
		})
		if err != nil {
			return 0, err
		}
		return keys[0].Number, nil
	}
	broken := errors.New("away")
	for _, step := range []struct {
		after         time.Duration
		away          error
		number, reads int
		err           error
	}{
		{0, broken, 0, 1, broken},
		{0, nil, 2, 2, nil},
		{10*time.Second - 1, broken, 2, 2, nil},
		{10 * time.Second, broken, 2, 3, nil},
		{11*time.Second - 1, nil, 2, 3, nil},
		{11 * time.Second, broken, 2, 4, nil},
		{time.Minute - 1, broken, 2, 5, nil},
		{61 * time.Second, broken, 0, 6, broken},
		{61 * time.Second, nil, 7, 7, nil},
	} {
		away = step.away
		number, err := numbers(step.after)
		if number != step.number || reads != step.reads || err != step.err {
			t.Errorf("after %v: key %d, %d reads, %v; want %d, %d, %v", step.after, number, reads, err, step.number, step.reads, step.err)
		}
	}
	reads = 100
	ring.forget()
	if number, err := numbers(61 * time.Second); number != 101 || err != nil {
		t.Errorf("after it was to forget: key %d, %v", number, err)
	}
}
