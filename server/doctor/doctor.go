// Package doctor checks the configuration of a server and what the server depends on: the store, the master key,
// timestamp authorities, the identity provider, the mail server, certificates and clocks. No check rings a phone, sends
// mail or changes the store.
package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/server/config"
)

// Verdict is the result of a check.
type Verdict string

const (
	OK    Verdict = "ok"
	Doubt Verdict = "doubt" // possibly a fault
	Fault Verdict = "fault"
)

// Finding is a result of one check.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Check   string  `json:"check"`  // what was checked
	Says    string  `json:"says"`   // what the check found
	Advice  string  `json:"advice"` // what the operator can do; may be empty
}

// Results are the findings of several checks, in the order of the checks.
type Results []Finding

func (r *Results) ok(check, says string) { *r = append(*r, Finding{OK, check, says, ""}) }

func (r *Results) doubt(check, says, advice string) {
	*r = append(*r, Finding{Doubt, check, says, advice})
}

func (r *Results) fault(check, says, advice string) {
	*r = append(*r, Finding{Fault, check, says, advice})
}

// Faulty reports whether there is a fault.
func (r Results) Faulty() bool {
	return slices.ContainsFunc(r, func(f Finding) bool { return f.Verdict == Fault })
}

// WriteTo writes the findings as a table, each with its advice below.
func (r Results) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	for _, f := range r {
		verdict := string(f.Verdict)
		if f.Verdict == Fault { // in capitals, to stand out
			verdict = strings.ToUpper(verdict)
		}
		fmt.Fprintf(&b, "%-6s %-14s %s\n", verdict, f.Check, f.Says)
		if f.Advice != "" {
			fmt.Fprintf(&b, "%-6s %-14s %s\n", "", "", f.Advice)
		}
	}
	return b.WriteTo(w)
}

// Limits of an examination, for services that do not answer.
const (
	totalTimeout = time.Minute
	checkTimeout = 20 * time.Second // of one check
)

// Examine runs the checks of a configuration with these faults. With faults it runs only the checks of the store and
// the disk.
func Examine(ctx context.Context, conf *config.Config, faults config.Faults) Results {
	ctx, cancel := context.WithTimeout(ctx, totalTimeout)
	defer cancel()
	var r Results
	for _, fault := range faults {
		r.fault("configuration", fault, "")
	}
	d := doctor{conf}
	checks := []check{d.store, d.disk}
	if len(faults) == 0 {
		r.ok("configuration", "has no faults")
		checks = slices.Concat(checks, d.timestamps(), []check{d.roots}, d.revocations(),
			[]check{d.provider, d.login, d.mail, d.baseURL, d.certificate, d.proxy, d.traces, d.renderer})
	} else {
		r.doubt("configuration", "the other checks were not made: correct the configuration first", "")
	}
	return append(r, runAll(ctx, checks)...)
}

// doctor has the checks of a configuration.
type doctor struct{ conf *config.Config }

// check adds findings to r. It adds none if it does not apply to the configuration.
type check func(ctx context.Context, r *Results)

// runAll runs the checks concurrently, each with its time limit, and returns their findings in the order of the checks.
func runAll(ctx context.Context, checks []check) Results {
	results := make([]Results, len(checks))
	var group errgroup.Group
	for i, run := range checks {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			run(ctx, &results[i])
			return nil
		})
	}
	_ = group.Wait() // checks return no errors, but add findings
	return slices.Concat(results...)
}

// packagePrefixes removes the package names from error texts.
var packagePrefixes = strings.NewReplacer("ades: ", "", "bolt: ", "", "mail: ", "", "online: ", "", "postgres: ", "", "sealed: ", "", "storage: ", "", "traces: ", "", "webhook: ", "")

// oneLine returns the text of an error on one line, without package names and repeated lines.
func oneLine(err error) string {
	lines := strings.FieldsFunc(packagePrefixes.Replace(err.Error()), func(r rune) bool { return r == '\n' || r == '\t' })
	return strings.Join(slices.Compact(lines), " ")
}

// counted returns a number with a noun, such as "one root" and "2 roots".
func counted(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
