// Package doctor looks at what is wrong with the configuration of a server, and with the world around it: the store, the master
// key, timestamp authorities, the identity provider, the mail server, certificates and clocks. It rings no phone and
// sends no mail, and changes nothing but the form of a store of an earlier version, as the start of a server does.
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

// Verdict is what a check came to.
type Verdict string

const (
	OK    Verdict = "ok"
	Doubt Verdict = "doubt" // it may well be right
	Fault Verdict = "fault"
)

// Finding is what one check came to.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Check   string  `json:"check"` // what was looked at
	Says    string  `json:"says"`
	Advice  string  `json:"advice"` // what to do; empty: nothing has to be done
}

// Results are findings, in the order of the checks.
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
		if f.Verdict == Fault { // which is seen among others
			verdict = strings.ToUpper(verdict)
		}
		fmt.Fprintf(&b, "%-6s %-14s %s\n", verdict, f.Check, f.Says)
		if f.Advice != "" {
			fmt.Fprintf(&b, "%-6s %-14s %s\n", "", "", f.Advice)
		}
	}
	return b.WriteTo(w)
}

// The times of an examination, whatever does not answer.
const (
	timeLimit  = time.Minute
	checkLimit = 20 * time.Second // of one check
)

// Examine does all checks that a configuration with these faults lets be done.
func Examine(ctx context.Context, conf *config.Config, faults config.Faults) Results {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
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
		r.doubt("configuration", "the other checks need a configuration without faults", "")
	}
	return append(r, all(ctx, checks)...)
}

// doctor does checks of a configuration.
type doctor struct{ conf *config.Config }

// check adds what it finds. What does not apply adds nothing.
type check func(ctx context.Context, r *Results)

// all does the checks side by side, each within its limit, and returns their findings in their order.
func all(ctx context.Context, checks []check) (together Results) {
	results := make([]Results, len(checks))
	var group errgroup.Group
	for i, do := range checks {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, checkLimit)
			defer cancel()
			do(ctx, &results[i])
			return nil
		})
	}
	_ = group.Wait() // the errors of checks are findings
	return slices.Concat(results...)
}

// packages are the prefixes of errors, which are of use to who reads the source.
var packages = strings.NewReplacer("ades: ", "", "bolt: ", "", "mail: ", "", "online: ", "", "postgres: ", "", "sealed: ", "", "storage: ", "", "traces: ", "", "webhook: ", "")

// plain is the text of an error on one line, each part of it once.
func plain(err error) string {
	lines := strings.FieldsFunc(packages.Replace(err.Error()), func(r rune) bool { return r == '\n' || r == '\t' })
	return strings.Join(slices.Compact(lines), " ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
