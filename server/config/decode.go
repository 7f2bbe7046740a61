package config

import (
	"encoding"
	"maps"
	"reflect"
	"slices"
)

// decode decodes the values of a TOML file into a struct whose fields have the tag toml. It adds a fault for every value of
// the wrong type and every unknown key; the decoder of package toml stops at the first one.
func decode(values map[string]any, into any, found *Faults) {
	decoder{found}.table("", values, reflect.ValueOf(into).Elem())
}

type decoder struct{ found *Faults }

// table decodes a table into a struct. path is the prefix of its keys in faults.
func (d decoder) table(path string, values map[string]any, into reflect.Value) {
	fields := make(map[string]reflect.Value)
	addFields(into, fields)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if field, ok := fields[key]; ok {
			d.value(path+key, values[key], field)
		} else {
			d.found.add(path+key, "is unknown: check its spelling")
		}
	}
}

// addFields adds the fields of a struct, and of structs that are embedded in it, to a map from keys.
func addFields(of reflect.Value, fields map[string]reflect.Value) {
	for i := range of.NumField() {
		field := of.Type().Field(i)
		if key := field.Tag.Get("toml"); key != "" {
			fields[key] = of.Field(i)
		} else if field.Anonymous {
			addFields(of.Field(i), fields)
		}
	}
}

// value decodes one value. It panics for a field of an unsupported type, which is a fault of this package.
func (d decoder) value(key string, value any, into reflect.Value) {
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	if own, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if text, ok := value.(string); !ok {
			d.found.add(key, "must be a string")
		} else if err := own.UnmarshalText([]byte(text)); err != nil {
			d.found.add(key, "%v", err)
		}
		return
	}
	switch into.Kind() {
	case reflect.String:
		set(d, key, value, "a string", into.SetString)
	case reflect.Bool:
		set(d, key, value, "true or false", into.SetBool)
	case reflect.Int64:
		set(d, key, value, "a whole number", into.SetInt)
	case reflect.Struct:
		set(d, key, value, "a table", func(values map[string]any) { d.table(key+".", values, into) })
	case reflect.Map: // of strings
		set(d, key, value, "a table", func(values map[string]any) {
			into.Set(reflect.MakeMap(into.Type()))
			for _, name := range slices.Sorted(maps.Keys(values)) {
				element := reflect.New(into.Type().Elem()).Elem()
				d.value(key+"."+name, values[name], element)
				into.SetMapIndex(reflect.ValueOf(name), element)
			}
		})
	case reflect.Slice:
		if into.Type().Elem().Kind() == reflect.Struct {
			set(d, key, value, "an array of tables", func(list []map[string]any) { elements(d, key, list, into) })
		} else {
			set(d, key, value, "an array of strings", func(list []any) { elements(d, key, list, into) })
		}
	default:
		panic("config: the field of " + key + " has a type that is not decoded")
	}
}

// set calls f with a value of the type T, and adds a fault for a value of another type.
func set[T any](d decoder, key string, value any, what string, f func(T)) {
	if right, ok := value.(T); ok {
		f(right)
	} else {
		d.found.add(key, "must be %s", what)
	}
}

// elements decodes the elements of an array.
func elements[T any](d decoder, key string, list []T, into reflect.Value) {
	into.Set(reflect.MakeSlice(into.Type(), len(list), len(list)))
	for i, value := range list {
		d.value(indexed(key, i), value, into.Index(i))
	}
}
