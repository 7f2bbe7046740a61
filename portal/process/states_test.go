package process_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal/process"
)

// transition is an edge of a state diagram.
type transition struct{ from, event, to string }

// events are the events about the first signer and the process, and those by which the second signer can change the status of
// the process.
var events = []struct {
	name  string
	about string // "": the process
	do    step
}{
	{"LogIn", "first", logIn("first", firstKennitala)},
	{"BeginSigning", "first", begin("first")},
	{"BeginSigningAs", "first", beginAs("first", firstKennitala, true)},
	{"DeclineSigning", "first", event(process.DeclineSigning{Participant: "first"})},
	{"DeclineSigningAs", "first", decline("first")},
	{"BeginSigningAs", "second", beginAs("second", secondKennitala, true)},
	{"DeclineSigningAs", "second", decline("second")},
	{"AddSignature", "", func(t *timeline) error {
		_, err := t.Apply(process.AddSignature{Turn: t.Turns, Signature: process.Signature{Kennitala: t.kennitalaInTurn()}}, t.now)
		return err
	}},
	{"EndTurn", "", endTurn},
	{"InviteAgain", "", func(t *timeline) error {
		_, err := t.Apply(process.InviteAgain{NewLink: func() process.Link { return process.Link{Hash: []byte("link of first")} }}, t.now)
		return err
	}},
	{"a week passes", "", wait(week + moment)},
}

func (t *timeline) kennitalaInTurn() string {
	if t.Turn != nil && t.Turn.Participant == "second" {
		return secondKennitala
	}
	return firstKennitala
}

// signerState returns the state of the first signer.
func (t *timeline) signerState() string {
	one := t.Participant("first")
	switch {
	case one.Signature != nil:
		return "Signed"
	case one.Decline != nil:
		return "Declined"
	case t.Turn != nil && t.Turn.Participant == "first":
		return "Signing"
	case one.Person != nil:
		return "LoggedIn"
	case one.LinkState(t.now) == process.LinkExpired:
		return "LinkExpired"
	}
	return "Invited"
}

// key identifies the state of a timeline without its times.
func (t *timeline) key() string {
	var b strings.Builder
	for _, one := range t.Participants {
		fmt.Fprint(&b, one.LinkState(t.now), one.Person != nil, one.Signature != nil, one.Decline != nil, " ")
	}
	fmt.Fprint(&b, t.Status(t.now), t.Turn != nil && t.Turn.Participant == "first", t.Turn != nil)
	return b.String()
}

// explore applies all events in all reachable states and returns the transitions of the first signer and of the process.
func explore(t *testing.T) (signer, whole map[transition]bool) {
	signer, whole = make(map[transition]bool), make(map[transition]bool)
	seen := map[string]bool{newTimeline().key(): true}
	for queue := [][]step{nil}; len(queue) > 0; queue = queue[1:] {
		for _, e := range events {
			before, next := after(t, queue[0]...), after(t, queue[0]...)
			if e.do(next) != nil {
				continue
			}
			if from, to := before.signerState(), next.signerState(); from != to && e.about != "second" {
				signer[transition{from, e.name, to}] = true
			}
			if from, to := before.Status(before.now), next.Status(next.now); from != to {
				whole[transition{string(from), e.name, string(to)}] = true
			}
			if !seen[next.key()] {
				seen[next.key()] = true
				queue = append(queue, append(slices.Clone(queue[0]), e.do))
			}
		}
	}
	return signer, whole
}

// writeDiagram writes a state diagram in the language of Mermaid, which GitHub draws. Events between the same states share an
// arrow.
func writeDiagram(b *bytes.Buffer, start string, transitions map[transition]bool) {
	names := make(map[[2]string][]string)
	for t := range transitions {
		edge := [2]string{t.from, t.to}
		names[edge] = append(names[edge], t.event)
	}
	fmt.Fprintf(b, "```mermaid\nstateDiagram-v2\n    [*] --> %s\n", start)
	edges := slices.SortedFunc(maps.Keys(names), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, edge := range edges {
		slices.Sort(names[edge])
		fmt.Fprintf(b, "    %s --> %s: %s\n", edge[0], edge[1], strings.Join(names[edge], ", "))
	}
	b.WriteString("```\n")
}

// TestStatesPage compares docs/reference/process-states.md with the rules. It draws the transitions that the package admits.
func TestStatesPage(t *testing.T) {
	signer, whole := explore(t)
	var b bytes.Buffer
	b.WriteString(`# States of a signing process

Written by the tests of [portal/process](../../portal/process), from the rules that the service applies: remove this file, and
` + "`INNSIGLI_GOLDEN=1 go test ./portal/process`" + ` writes it again.

## The process

`)
	writeDiagram(&b, "Waiting", whole)
	b.WriteString(`
A signature that was begun in time is added also when the process has expired or was declined meanwhile. ` + "`Delete`" + ` is
possible in every state.

## A signer

`)
	writeDiagram(&b, "Invited", signer)
	b.WriteString(`
## The events and their conditions

The first condition that is not met decides the error. The events whose names end in ` + "`As`" + ` are those of sandbox users, in the
sandbox only.

| Event | Condition | Error |
|---|---|---|
`)
	for _, rule := range process.Rules() {
		if len(rule.Conditions) == 0 {
			fmt.Fprintf(&b, "| `%s` | none | |\n", rule.Event)
		}
		for i, c := range rule.Conditions {
			event := ""
			if i == 0 {
				event = "`" + rule.Event + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", event, c.Text, strings.TrimPrefix(c.Err.Error(), "process: "))
		}
	}
	testenv.SameAsGolden(t, "../../docs/reference/process-states.md", b.Bytes())
}
