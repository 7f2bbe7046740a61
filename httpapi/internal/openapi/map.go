package openapi

import (
	"bytes"
	"encoding/json"
)

// Map is a JSON object that keeps the order of its members, since readers meet them in it.
type Map[V any] []Member[V]

// Member is a member of a [Map].
type Member[V any] struct {
	Name  string
	Value V
}

// Get returns the member of a name.
func (m Map[V]) Get(name string) (V, bool) {
	for _, member := range m {
		if member.Name == name {
			return member.Value, true
		}
	}
	var none V
	return none, false
}

// MarshalJSON encodes an object with the members in their order.
func (m Map[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, member := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(member.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(member.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
