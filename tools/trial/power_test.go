package main

import (
	"errors"
	"testing"
)

// A control has to notice that something is lost. That clients wait is no loss: a machine may be slow.
func TestPowerVerdict(t *testing.T) {
	for name, test := range map[string]struct {
		happens        func(m *machine)
		trial, control bool // passes
	}{
		"nothing":           {func(*machine) {}, true, false},
		"clients wait":      {func(m *machine) { m.count.fault("clients still wait") }, false, false},
		"clients stopped":   {func(m *machine) { m.count.lost, m.abandoned = 2, 2 }, false, false},
		"a request is lost": {func(m *machine) { m.count.lost, m.abandoned = 3, 2 }, false, true},
		"a process is lost": {func(m *machine) { (&maker{machine: m}).missing(t.Context(), "gone") }, false, true},
		"no server starts":  {func(m *machine) { m.count.fault("no start"); m.unopened = true }, false, true},
	} {
		for control, passes := range map[bool]bool{false: test.trial, true: test.control} {
			m := &machine{crowd: &crowd{count: &figures{delivered: 1}}, kept: &kept{processes: make([]*keptProcess, 1)}}
			test.happens(m)
			if err := m.verdict(control); (err == nil) != passes || err != nil && !errors.Is(err, errBroken) {
				t.Errorf("%s, control %v: %v", name, control, err)
			}
		}
	}
}
