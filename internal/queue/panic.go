package queue

import (
	"fmt"
	"runtime"
)

// PanicText returns what a log may contain of a value that recover returned: the text of a runtime
// error, which quotes no data, and of any other value its type alone, since the value may contain
// personal data.
func PanicText(value any) string {
	if fault, ok := value.(runtime.Error); ok {
		return fault.Error()
	}
	return fmt.Sprintf("%T", value)
}
