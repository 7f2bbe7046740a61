package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

type doctorCommand struct {
	serverFlags
	JSON bool `help:"Print a line of JSON for each finding."`
}

func (doctorCommand) Help() string {
	return "It takes the flags of innsigli serve, or their environment variables, and may be run beside the server. It reads the configuration; opens the store, and with the master key what is sealed in it; asks each timestamp authority for a token, those who issued the configured certificates whether they still stand, and the identity provider as \"innsigli idp check --without-request\" does; logs in to the mail server; calls the base URL; and looks at clocks, at certificates that are about to expire and at the room on the disk. No phone rings, no mail is sent, and nothing is changed but the form of a store of an earlier version, as a start does. Exit status 1 says that there is a FAULT.\n\n--json prints an object a line: {\"verdict\",\"check\",\"says\",\"advice\"}, with the verdict ok, doubt or fault.\n\nExample: innsigli doctor --environment production --listen 127.0.0.1:8080 --base-url https://sign.example --store postgres://innsigli@db.example/innsigli --master-key-file master.key --config innsigli.toml"
}

// A doctor's visit is over soon, whatever does not answer.
const (
	visitTime = time.Minute
	checkTime = 20 * time.Second // of one check
)

func (c doctorCommand) Run(ctx context.Context, s streams) error {
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	sheet := c.examine(ctx)
	if c.JSON {
		encoder := json.NewEncoder(s.out)
		for _, line := range sheet {
			if err := encoder.Encode(line.finding()); err != nil {
				return err
			}
		}
	} else if _, err := sheet.WriteTo(s.out); err != nil {
		return err
	}
	if sheet.faulty() {
		return errSilent
	}
	return nil
}

// examine does all checks that the configuration lets be done.
func (c doctorCommand) examine(ctx context.Context) checkSheet {
	conf, found := c.read()
	var sheet checkSheet
	for _, fault := range found {
		sheet.fault("configuration", fault, "")
	}
	d := doctor{flags: c.serverFlags, conf: conf}
	checks := []check{d.store, d.disk}
	if len(found) == 0 {
		sheet.ok("configuration", "has no faults")
		checks = slices.Concat(checks, d.timestamps(), []check{d.roots}, d.standing(),
			[]check{d.provider, d.login, d.mail, d.baseURL, d.certificate, d.proxy, d.traces, d.renderer})
	} else {
		sheet.doubt("configuration", "the rest is looked at once it has no faults", "")
	}
	return append(sheet, all(ctx, checks)...)
}

// doctor has what is to be examined.
type doctor struct {
	flags serverFlags
	conf  configuration
}

// packages are before what errors say, for who reads the source.
var packages = strings.NewReplacer("ades: ", "", "bolt: ", "", "mail: ", "", "online: ", "", "postgres: ", "", "sealed: ", "", "storage: ", "", "traces: ", "", "webhook: ", "")

// plainly is what an error says, on one line and each part of it once.
func plainly(err error) string {
	lines := strings.FieldsFunc(packages.Replace(err.Error()), func(r rune) bool { return r == '\n' || r == '\t' })
	return strings.Join(slices.Compact(lines), " ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// check enters what it finds. What does not apply enters nothing.
type check func(ctx context.Context, sheet *checkSheet)

// all does the checks side by side, each in its time, and enters their findings in their order.
func all(ctx context.Context, checks []check) (sheet checkSheet) {
	sheets := make([]checkSheet, len(checks))
	var group errgroup.Group
	for i, do := range checks {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, checkTime)
			defer cancel()
			do(ctx, &sheets[i])
			return nil
		})
	}
	_ = group.Wait() // no check has an error but in its sheet
	for _, s := range sheets {
		sheet = append(sheet, s...)
	}
	return sheet
}
