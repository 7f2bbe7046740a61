package queue_test

import (
	"errors"
	"testing"

	"github.com/innsigli/innsigli/internal/queue"
)

func TestPanicText(t *testing.T) {
	var empty []int
	var none any
	for _, test := range []struct {
		name, want string
		panics     func()
	}{
		{"a text", "string", func() { panic("0101302989") }},
		{"an error", "*errors.errorString", func() { panic(errors.New("0101302989")) }},
		{"an index", "runtime error: index out of range [3] with length 0", func() { empty[3] = 1 }},
		{"a nil pointer", "runtime error: invalid memory address or nil pointer dereference", func() { *(*int)(nil) = 1 }},
		{"a type", "interface conversion: interface {} is nil, not string", func() { _ = none.(string) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if got := queue.PanicText(recover()); got != test.want {
					t.Errorf("%q, want %q", got, test.want)
				}
			}()
			test.panics()
		})
	}
}
