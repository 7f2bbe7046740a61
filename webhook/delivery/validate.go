package delivery

import (
	"fmt"
	"slices"
	"strings"
)

// InvalidError is the refusal of a URL or of event types, for each of its faults.
type InvalidError struct {
	Faults []Fault // at least one
}

// Fault is what is wrong with a field.
type Fault struct {
	Field   string // "url", "eventTypes" or "eventTypes[0]"
	Message string // a sentence
}

func (e *InvalidError) Error() string {
	var list []string
	for _, f := range e.Faults {
		list = append(list, f.Field+": "+f.Message)
	}
	return "webhook: " + strings.Join(list, " ")
}

// Validate judges a URL and event types as Update does; nil is left out. [*InvalidError].
func (s *Service) Validate(url *string, eventTypes []string) error {
	var faults []Fault
	if url != nil {
		faults = s.urlFaults(*url)
	}
	if eventTypes != nil {
		faults = append(faults, s.typeFaults(eventTypes)...)
	}
	return refusal(faults)
}

// refusal is the error that a request with faults is answered with.
func refusal(faults []Fault) error {
	if faults == nil {
		return nil
	}
	return &InvalidError{faults}
}

func (s *Service) urlFaults(url string) []Fault {
	if fault := checkURL(url, s.options.Endpoints.AllowPrivate); fault != "" {
		return []Fault{{"url", fault}}
	}
	return nil
}

func (s *Service) typeFaults(eventTypes []string) (faults []Fault) {
	if len(eventTypes) == 0 {
		return []Fault{{"eventTypes", "At least one is required."}}
	}
	for i, t := range eventTypes {
		if !slices.Contains(s.options.EventTypes, t) {
			faults = append(faults, Fault{fmt.Sprintf("eventTypes[%d]", i), "Must be one of: " + strings.Join(s.options.EventTypes, ", ") + "."})
		}
	}
	return faults
}
