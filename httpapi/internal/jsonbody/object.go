package jsonbody

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Object is an object of a body: the body itself, or one inside it. Its methods
// fetch members by path ("signer.phone") and record what is wrong with them; a
// path starts at the object, the fault is recorded at the path from the body
// ("participants[1].email"). A method returns the zero value for a member that is
// absent or faulty.
//
// A parent that is missing though a member in it is required, or that is no
// object, is one fault at the parent, not one for each member.
//
// A nil Object has no members and records nothing, so the fields of an object
// that was missing or faulty can be asked for all the same. An Object is for one
// goroutine.
type Object struct {
	value   *value
	path    string // from the body; empty for the body itself
	content string // the path of the content; of the body itself only
	faults  faults // shared by all objects of a body
}

// faults is the errors member of a validation problem (spec 1.3).
type faults map[string][]string

// add records a fault once: many members can blame one parent.
func (f faults) add(path, message string) {
	if !slices.Contains(f[path], message) {
		f[path] = append(f[path], message)
	}
}

// Errors returns the faults recorded so far in all objects of the body, from path
// to messages, and nil when there are none. The path of the body is "$".
func (o *Object) Errors() map[string][]string {
	if o == nil || len(o.faults) == 0 {
		return nil
	}
	return maps.Clone(o.faults)
}

// Fault records a fault that a rule of the caller found. An empty path is the
// object itself.
func (o *Object) Fault(path, message string) {
	if o != nil {
		o.faults.add(orWhole(o.at(path)), message)
	}
}

// Object returns the object at path, nil when it is absent or faulty.
// Rules: Required, RequiredIf.
func (o *Object) Object(path string, rules ...Rule) *Object {
	v := o.member(path, object, collect(rules))
	if v == nil {
		return nil
	}
	return o.inner(path, v)
}

// Objects returns the objects of the array at path. An element that is no object
// is a fault and a nil Object. An empty array gives an empty slice, an absent one
// nil. Rules: Required, RequiredIf, Items.
func (o *Object) Objects(path string, rules ...Rule) []*Object {
	return elements(o, path, collect(rules), func(at string, v *value) *Object {
		if v.kind != object {
			o.Fault(at, mustBe(object))
			return nil
		}
		return o.inner(at, v)
	})
}

// Content tells, of the body itself, whether the content was there and whole.
// Content that is no Base64 is among the faults without it. Rules: Required,
// RequiredIf.
func (o *Object) Content(rules ...Rule) bool {
	if o == nil || o.content == "" {
		return false
	}
	v := o.find(o.content, collect(rules).required)
	return v != nil && v.kind == content && len(o.faults[o.content]) == 0
}

func (o *Object) inner(path string, v *value) *Object {
	return &Object{value: v, path: o.at(path), faults: o.faults}
}

func (o *Object) at(path string) string {
	if path == "" {
		return o.path
	}
	return join(o.path, path)
}

// member returns the value at path when it is of the kind.
func (o *Object) member(path string, k kind, r rules) *value {
	v := o.find(path, r.required)
	if v != nil && v.kind != k {
		o.Fault(path, mustBe(k))
		return nil
	}
	return v
}

// find returns the value at path, nil when it is absent or a parent is faulty.
func (o *Object) find(path string, required bool) *value {
	if o == nil {
		return nil
	}
	v, walked := o.value, ""
	for name := range strings.SplitSeq(path, ".") {
		if v.kind != object {
			o.Fault(walked, mustBe(object))
			return nil
		}
		v, walked = v.members[name], join(walked, name)
		if v == nil || v.kind == null {
			if required {
				o.Fault(walked, msgRequired)
			}
			return nil
		}
	}
	return v
}

// elements fetches an array. One with too many elements is not looked into.
func elements[T any](o *Object, path string, r rules, fetch func(at string, v *value) T) []T {
	v := o.member(path, array, r)
	if v == nil {
		return nil
	}
	if fault := first(r.items, len(v.elements)); fault != "" {
		o.Fault(path, fault)
		return nil
	}
	all := make([]T, len(v.elements))
	for i, element := range v.elements {
		all[i] = fetch(path+"["+strconv.Itoa(i)+"]", element)
	}
	return all
}
