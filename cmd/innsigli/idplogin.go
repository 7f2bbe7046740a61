package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/idp/ciba"
)

// addLogin enters whether people can log in: on pages, and on phones where that is wanted.
// Nobody is asked.
func (s *checkSheet) addLogin(ctx context.Context, p loginProvider) error {
	const what = "login"
	browser, err := p.open("https://localhost/")
	if err != nil {
		return fmt.Errorf("the login: %w", err)
	}
	report, err := browser.Check(ctx)
	if err == nil && p.phones != nil {
		report, err = p.alsoByPhone(ctx, report)
	}
	if err != nil {
		return err
	}
	for _, problem := range report.Problems {
		s.fault(what, problem.String(), advices[problem.Topic])
	}
	for _, doubt := range report.Doubts {
		s.doubt(what, doubt.String(), advices[doubt.Topic])
	}
	missing := unlisted(p.acrValues(), report.ACRValues)
	if report.ACRValues != nil && missing != nil {
		s.doubt(what, "the metadata does not name "+strings.Join(missing, ", "), "See acr-values, app-acr and sim-acr; a provider need not name all of them.")
	}
	if report.Problems == nil {
		page, _, _ := strings.Cut(report.Endpoints.Authorization, "?")
		s.ok(what, "people are sent to "+page)
	}
	return nil
}

// alsoByPhone is a report with what is found beside it of the same client as one of CIBA.
func (p loginProvider) alsoByPhone(ctx context.Context, r ciba.Report) (ciba.Report, error) {
	client, err := ciba.New(p.client)
	if err != nil {
		return r, err
	}
	phone, err := client.Check(ctx)
	r.Problems = union(r.Problems, phone.Problems)
	r.Doubts = union(r.Doubts, phone.Doubts)
	return r, err
}

func union(all, more []ciba.Problem) []ciba.Problem {
	for _, problem := range more {
		if !slices.Contains(all, problem) {
			all = append(all, problem)
		}
	}
	return all
}

// acrValues are those of logins.
func (p loginProvider) acrValues() []string {
	all := slices.Clone(p.browser.ACR)
	for _, phone := range p.phones {
		all = append(all, phone.ACR)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
