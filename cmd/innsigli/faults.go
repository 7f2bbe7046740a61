package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// faults are what is wrong with a configuration, each with the key or flag that it is
// about: "timestamp[1].url: …".
type faults []string

func (f *faults) add(key, format string, args ...any) {
	*f = append(*f, key+": "+fmt.Sprintf(format, args...))
}

// about says whether there is one of the key, or of a part of it.
func (f faults) about(key string) bool {
	return slices.ContainsFunc(f, func(fault string) bool { return strings.HasPrefix(fault, key) })
}

// err is all of them, or nil.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return errors.New("the configuration is faulty:\n  " + strings.Join(f, "\n  "))
}
