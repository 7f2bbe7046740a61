package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// calls is what a trace of internal/failpoint says of the calls to the provider: how many
// were made, of how many the answer was stored, and how many were made again after that.
type calls struct{ made, stored, doubled int }

// tracedCalls reads a trace that servers left one after the other.
func tracedCalls(t *testing.T, path string) calls {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("the servers left no trace: %v", err)
	}
	c, err := readCalls(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readCalls(trace string) (c calls, err error) {
	type call struct{ name, request string }
	outcome, kept := make(map[call]string), make(map[call]bool)
	for line := range strings.Lines(trace) {
		field := strings.Fields(line)
		if len(field) < 5 {
			return c, fmt.Errorf("trace: %q", line)
		}
		of := call{field[0], field[1]}
		switch field[2] {
		case "call":
			c.made++
			if kept[of] {
				c.doubled++
			}
			delete(outcome, of)
		case "return":
			outcome[of] = field[4]
		case "stored":
			c.stored++
			kept[of] = kept[of] || once(of.name, outcome[of])
		default:
			return c, fmt.Errorf("trace: %q", line)
		}
	}
	return c, nil
}

// once says whether a call that came to this is made once: the person is asked once and
// signs once. Polls that come to nothing are made as often as it takes.
func once(name, outcome string) bool {
	if name == "poll" {
		return outcome == "signed" || outcome == "failed"
	}
	return outcome != "" && outcome != "error"
}

// What the trace shows is what is counted.
func TestReadCalls(t *testing.T) {
	const asked = "begin r call 1 10\nbegin r return 1 waiting 11\nbegin r stored 1 12\n"
	for name, test := range map[string]struct {
		trace string
		want  calls
	}{
		"one signature": {asked + "poll r call 1 13\npoll r return 1 waiting 14\npoll r stored 1 15\n" +
			"poll r call 2 16\npoll r return 2 signed 17\npoll r stored 2 18\n", calls{made: 3, stored: 3}},
		"asked twice":        {asked + "begin r call 2 13\n", calls{made: 2, stored: 1, doubled: 1}},
		"two requests":       {asked + "begin s call 2 13\n", calls{made: 2, stored: 1}},
		"died before stored": {"sign r call 1 10\nsign r return 1 signed 11\nsign r call 2 12\n", calls{made: 2}},
		"died in the call":   {"sign r call 1 10\nsign r call 2 12\n", calls{made: 2}},
		"an error is no answer": {"sign r call 1 10\nsign r return 1 error 11\nsign r stored 1 12\nsign r call 1 13\n",
			calls{made: 2, stored: 1}},
		"polled after the value": {"poll r call 1 10\npoll r return 1 signed 11\npoll r stored 1 12\npoll r call 2 13\n",
			calls{made: 2, stored: 1, doubled: 1}},
	} {
		got, err := readCalls(test.trace)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(calls{})); diff != "" || err != nil {
			t.Errorf("%s: %v, %s", name, err, diff)
		}
	}
	for _, trace := range []string{"begin r call\n", "begin r hangs 1 10\n"} {
		if _, err := readCalls(trace); err == nil {
			t.Errorf("%q is read", trace)
		}
	}
}
