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
	doubled int // calls made again although their answer had been stored
	again   int // calls made again after the process that made them was killed
}

// asked is one request's calls so far.
type asked struct {
	open     map[string]bool     // processes in a call now
	returned map[string][]string // by call, the processes that got an answer to keep
}

// readTrace goes through lines "CALL REQUEST call PROCESS", "CALL REQUEST return PROCESS
// OUTCOME" and "killed PROCESS", in the order in which they were written.
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
		if len(field) == 2 && field[0] == "killed" {
			killed[field[1]] = true
			continue
		}
		if len(field) < 4 {
			return c, fmt.Errorf("trace: %q", lines.Text())
		}
		r := requests[field[1]]
		if r == nil {
			r = &asked{make(map[string]bool), make(map[string][]string)}
			requests[field[1]] = r
		}
		c.follow(r, killed, field)
	}
	return c, lines.Err()
}

func (c *calls) follow(r *asked, killed map[string]bool, field []string) {
	call, process := field[0], field[3]
	if field[2] == "call" {
		c.made++
		for other := range r.open {
			if !killed[other] {
				c.overlap++
			}
		}
		clear(r.open)
		r.open[process] = true
		return
	}
	delete(r.open, process)
	if outcome := field[4]; !final(call, outcome) {
		return
	}
	for _, earlier := range r.returned[call] {
		if killed[earlier] {
			c.again++
		} else {
			c.doubled++
		}
	}
	r.returned[call] = append(r.returned[call], process)
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
