package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// calls is what the trace says about the calls to the provider.
type calls struct {
	made    int
	overlap int // calls for one request by two processes at once
	doubled int // calls made again although their answer was stored, or about to be
	again   int // calls made again after the process that made them was killed
}

// asked is one request's calls so far.
type asked struct {
	open    map[string]bool     // processes in a call now
	answers map[string][]*given // by call
}

// given is an answer of the provider that is given once.
type given struct {
	process string
	stored  bool
}

// readTrace goes through the lines of internal/failpoint and "killed PROCESS TIME", in the
// order in which they were written.
func readTrace(path string) (c calls, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, errors.New("the servers left no trace")
	}
	if err != nil {
		return c, err
	}
	defer file.Close()
	requests, killed := make(map[string]*asked), make(map[string]bool)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		field := strings.Fields(lines.Text())
		switch {
		case len(field) == 3 && field[0] == "killed":
			killed[field[1]] = true
			continue
		case len(field) < 5:
			return c, fmt.Errorf("trace: %q", lines.Text())
		}
		r := requests[field[1]]
		if r == nil {
			r = &asked{make(map[string]bool), make(map[string][]*given)}
			requests[field[1]] = r
		}
		c.follow(r, killed, field)
	}
	return c, lines.Err()
}

func (c *calls) follow(r *asked, killed map[string]bool, field []string) {
	call, process := field[0], field[3]
	switch field[2] {
	case "call":
		c.made++
		for other := range r.open {
			if !killed[other] {
				c.overlap++
			}
		}
		clear(r.open)
		r.open[process] = true
	case "return":
		delete(r.open, process)
		if final(call, field[4]) {
			c.returned(r, killed, call, process)
		}
	case "stored":
		for _, g := range r.answers[call] {
			g.stored = g.stored || g.process == process
		}
	}
}

// returned notes an answer. There may have been one before if it was not stored, and its
// process was killed.
func (c *calls) returned(r *asked, killed map[string]bool, call, process string) {
	for _, earlier := range r.answers[call] {
		if killed[earlier.process] && !earlier.stored {
			c.again++
		} else {
			c.doubled++
		}
	}
	r.answers[call] = append(r.answers[call], &given{process: process})
}

// final says whether a call is one that is made once: the person is asked once, and signs
// once. Polls that come to nothing are made as often as it takes.
func final(call, outcome string) bool {
	switch {
	case outcome == "error":
		return false
	case call == "poll":
		return outcome == "signed" || outcome == "failed"
	}
	return true
}
