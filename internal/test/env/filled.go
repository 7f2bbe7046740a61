package env

import (
	"reflect"
	"testing"
	"time"
)

// Filled fails the test for each field of a struct that is zero. It also looks into the structs in
// it, and into the first one of a slice. So a golden file has a value for every field, and a new field
// needs a new golden file. Fields that are not exported are left out, unless they are embedded.
func Filled(t testing.TB, value any) {
	t.Helper()
	for _, field := range unfilled(reflect.ValueOf(value), reflect.TypeOf(value).String()) {
		t.Errorf("%s is not set", field)
	}
}

// unfilled returns the paths of the fields that are zero.
func unfilled(v reflect.Value, path string) (paths []string) {
	switch {
	case v.IsZero(), v.Kind() == reflect.Slice && v.Len() == 0:
		return []string{path}
	case v.Kind() == reflect.Pointer:
		return unfilled(v.Elem(), path)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		return unfilled(v.Index(0), path+"[0]")
	case v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]():
		return nil
	}
	for field, value := range v.Fields() {
		if field.IsExported() || field.Anonymous {
			paths = append(paths, unfilled(value, path+"."+field.Name)...)
		}
	}
	return paths
}
