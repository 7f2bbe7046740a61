package httpapi_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

// met are all tests. When all have run, it is told which operations and statuses of the documents none
// of them met. Every operation has to be met with one status at least.
type met struct{ *testing.M }

func (m met) Run() int {
	code := m.M.Run()
	for _, name := range []string{"run", "skip", "list", "fuzz"} {
		if flag.Lookup("test."+name).Value.String() != "" {
			return code
		}
	}
	return max(code, untested())
}

// untested prints what was not met; 1: an operation was not.
func untested() (code int) {
	descriptions.mu.Lock()
	defer descriptions.mu.Unlock()
	for production, d := range descriptions.of {
		unseen := d.Unseen()
		if testing.Verbose() {
			fmt.Printf("statuses of the document that no test met (production: %v): %s\n", production, strings.Join(unseen, ", "))
		}
		for _, id := range d.Unmet() {
			if !production { // which has what the sandbox has
				fmt.Printf("no test meets the operation %s\n", id)
				code = 1
			}
		}
	}
	return code
}
