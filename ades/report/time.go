package report

import (
	"encoding/json"
	"fmt"
	"time"
)

// Time is a time as JSON has it here: RFC 3339 in UTC, to the second, and "" when it is not known.
type Time struct{ time.Time }

// String is the time as it stands in JSON.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// MarshalJSON implements [json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Time) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	t.Time = time.Time{}
	if text == "" {
		return nil
	}
	var err error
	if t.Time, err = time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf("report: %q is no time: %w", text, err)
	}
	return nil
}
