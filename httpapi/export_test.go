package httpapi

import "slices"

// MappedErrors are the errors of the tables that turn errors into answers.
func MappedErrors() (all []error) {
	for _, row := range slices.Concat(processProblems, problems) {
		all = append(all, row.err)
	}
	return all
}
