package storagetest

import (
	"reflect"
	"testing"
	"time"
)

// TestGoldenExamplesHaveEveryField checks that every field has a value in one of the examples.
func TestGoldenExamplesHaveEveryField(t *testing.T) {
	filled := make(map[string]bool)
	fields(reflect.ValueOf(goldenExamples()), filled)
	for field, ok := range filled {
		// Claim computes the first, and the second is not stored.
		if !ok && field != "storage.Lease.Interrupted" && field != "process.Person.Authentication" {
			t.Errorf("no example has a value in %s", field)
		}
	}
}

// fields records the fields of all structs in a value, and whether one of them has a value.
func fields(v reflect.Value, filled map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fields(v.Elem(), filled)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fields(v.Index(i), filled)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().String() + "." + v.Type().Field(i).Name
			filled[name] = filled[name] || !v.Field(i).IsZero()
			fields(v.Field(i), filled)
		}
	}
}
