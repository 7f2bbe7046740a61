package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// calls is what the trace says about the calls to the provider.
type calls struct {
	made    int
	overlap int // calls for one request by two processes at once
	doubled int // calls made again although their answer had been stored
	again   int // calls made again after the process that made them was killed
}

// answerStored is how long a server that lives may take to store an answer, in milliseconds.
// When it was killed later than that, it had stored it.
const answerStored = 5000

// asked is one request's calls so far.
type asked struct {
	open     map[string]bool       // processes in a call now
	answered map[string][]answered // by call
}

// answered is an answer that is to be kept.
type answered struct {
	process string
	at      int64
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
	requests, killed := make(map[string]*asked), make(map[string]int64)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		field := strings.Fields(lines.Text())
		if len(field) < 3 {
			return c, fmt.Errorf("trace: %q", lines.Text())
		}
		at, err := strconv.ParseInt(field[len(field)-1], 10, 64)
		switch {
		case err == nil && len(field) == 3 && field[0] == "killed":
			killed[field[1]] = at
			continue
		case err != nil || len(field) < 5:
			return c, fmt.Errorf("trace: %q", lines.Text())
		}
		r := requests[field[1]]
		if r == nil {
			r = &asked{make(map[string]bool), make(map[string][]answered)}
			requests[field[1]] = r
		}
		c.follow(r, killed, field, at)
	}
	return c, lines.Err()
}

func (c *calls) follow(r *asked, killed map[string]int64, field []string, at int64) {
	call, process := field[0], field[3]
	if field[2] == "call" {
		c.made++
		for other := range r.open {
			if _, dead := killed[other]; !dead {
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
	for _, earlier := range r.answered[call] {
		if died, dead := killed[earlier.process]; dead && died-earlier.at < answerStored {
			c.again++
		} else {
			c.doubled++
		}
	}
	r.answered[call] = append(r.answered[call], answered{process, at})
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
