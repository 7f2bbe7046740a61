// Package recovered says what a log may have of a panic.
package recovered

import (
	"fmt"
	"runtime"
)

// Text is of the value that recover returned: the words of Go's runtime, which quote no data, and of
// any other value its type alone, since the value may be about people.
func Text(value any) string {
	if fault, ok := value.(runtime.Error); ok {
		return fault.Error()
	}
	return fmt.Sprintf("%T", value)
}
