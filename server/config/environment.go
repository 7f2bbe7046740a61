package config

import (
	"regexp"
	"slices"
	"strings"
)

// Prefix is the prefix of the program's environment variables.
const Prefix = "INNSIGLI_"

// serviceVariable matches variables that Kubernetes sets for each service of a namespace, such as INNSIGLI_SERVICE_HOST and
// INNSIGLI_PORT_8080_TCP_ADDR for a service whose name is or begins with "innsigli".
var serviceVariable = regexp.MustCompile(`_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// checkVariables adds a fault for each unknown variable with the program's prefix that resembles a known one: it is
// probably misspelt, and would have no effect. Other unknown variables may belong to another program.
func checkVariables(environ, known []string, found *Faults) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, Prefix) || slices.Contains(known, name) || serviceVariable.MatchString(name) {
			continue
		}
		if i := slices.IndexFunc(known, func(k string) bool { return resembles(name, k) }); i >= 0 {
			found.add(name, "is unknown; %s exists", known[i])
		}
	}
}

// resembles reports whether two names differ only in underscores and case, or in at most two letters.
func resembles(a, b string) bool {
	a, b = strings.TrimPrefix(a, Prefix), strings.TrimPrefix(b, Prefix)
	normalized := func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "_", "")) }
	if normalized(a) == normalized(b) {
		return true
	}
	return min(len(a), len(b)) > 4 && distance(a, b) <= 2
}

// distance returns the Levenshtein distance of two texts.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // of the row above, one to the left
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, replaced)
		}
	}
	return row[len(b)]
}
