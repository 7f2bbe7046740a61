package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/httpapi/internal/openapi"
)

// answer is what an operation answers when it did what it was asked for, or when it refuses in a
// form of its own.
type answer struct {
	status  int
	text    string
	headers openapi.Map[openapi.Header]
	content openapi.Map[openapi.MediaType] // nil: there is no body
}

// responses are all that an operation answers, by status: its answers, its problems, and those that
// come with what it is.
func (a *api) responses(o operation) openapi.Map[openapi.Response] {
	byStatus := make(map[int][]problem)
	for _, p := range slices.Concat(o.problems, a.generalProblems(o)) {
		byStatus[p.Status] = append(byStatus[p.Status], p)
	}
	var statuses []int
	var all openapi.Map[openapi.Response]
	add := func(status int, r openapi.Response) {
		if o.tellsRates(status) {
			r.Headers = slices.Concat(r.Headers, rateHeaders)
		}
		statuses = append(statuses, status)
		all = append(all, openapi.Member[openapi.Response]{Name: strconv.Itoa(status), Value: r})
	}
	for _, is := range o.answers {
		r := openapi.Response{Description: is.text, Headers: is.headers, Content: is.content}
		if also := byStatus[is.status]; also != nil {
			refused := a.refused(also)
			r.Description += "\n\n" + refused.Description
			r.Headers = slices.Concat(r.Headers, refused.Headers)
			r.Content = slices.Concat(r.Content, refused.Content)
		}
		add(is.status, r)
	}
	for status, problems := range byStatus {
		if !slices.Contains(statuses, status) {
			add(status, a.refused(problems))
		}
	}
	slices.SortFunc(all, func(x, y openapi.Member[openapi.Response]) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

// tellsRates says whether answers of a status tell of a limit: that which the call was one too many for, and
// all once a call has been counted, which is when it is known who makes it.
func (o operation) tellsRates(status int) bool {
	if o.call == nil || o.ownPace {
		return status == http.StatusTooManyRequests
	}
	return status != http.StatusUnauthorized
}

// generalProblems are those that come with what an operation is: one that takes a token, or a body.
func (a *api) generalProblems(o operation) (all []problem) {
	if o.call != nil {
		all = append(all, ambiguousToken, noToken, badToken, internalError, unavailable)
	}
	if o.call != nil && !o.ownPace {
		all = append(all, tooOften)
	}
	if o.scope != noScope {
		all = append(all, missingScope(o.scope))
	}
	if o.call != nil && (o.method != http.MethodGet || o.ownPace) { // a poll may write
		all = append(all, noRoomLeft)
	}
	if o.call != nil && o.body != nil {
		all = append(all, notJSON, tooLarge, wrongType(jsonType+" in UTF-8"))
	}
	return all
}

// notJSON is what jsonbody says of a body that is none.
var notJSON = *invalid(map[string][]string{"$": {"The body is not valid JSON: it ends too early."}})

// refused is the response with problems of one status.
func (a *api) refused(problems []problem) openapi.Response {
	var titles []string
	var lines []string
	var schemas []*openapi.Schema
	var examples openapi.Map[openapi.Example]
	for _, p := range problems {
		if !slices.Contains(titles, p.Title) {
			titles = append(titles, p.Title)
			lines = append(lines, "**"+p.Title+"** "+explanation(p.Title))
		}
		if s := p.schema(); !slices.Contains(schemas, s) {
			schemas = append(schemas, s)
		}
		examples = append(examples, openapi.Member[openapi.Example]{Name: exampleName(examples, p.Title), Value: openapi.Example{Summary: p.Title, Value: a.typed(p)}})
	}
	content := openapi.MediaType{Schema: openapi.AnyOf(schemas...), Examples: examples}
	return openapi.Response{
		Description: strings.Join(lines, "\n\n"),
		Headers:     problemHeaders(problems),
		Content:     openapi.Map[openapi.MediaType]{{Name: problemType, Value: content}},
	}
}

// exampleName is the name of one more example of a title.
func exampleName(before openapi.Map[openapi.Example], title string) string {
	name := slug(title)
	for n := 2; ; n++ {
		if _, taken := before.Get(name); !taken {
			return name
		}
		name = slug(title) + "-" + strconv.Itoa(n)
	}
}

// problemHeaders are those that come with problems of one status. One that each of them has is there
// for sure.
func problemHeaders(problems []problem) (headers openapi.Map[openapi.Header]) {
	waits := func(p problem) bool { return retryAfter[p.Title] != "" || p.Title == tooOften.Title }
	if slices.ContainsFunc(problems, waits) {
		all := !slices.ContainsFunc(problems, func(p problem) bool { return !waits(p) })
		headers = append(headers, retryAfterHeader(all))
	}
	switch problems[0].Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		headers = append(headers, challengeHeader(true))
	case http.StatusBadRequest:
		if slices.ContainsFunc(problems, func(p problem) bool { return p.Title == ambiguousToken.Title }) {
			headers = append(headers, challengeHeader(false))
		}
	}
	return headers
}

// schema is the shape of a problem.
func (p problem) schema() *openapi.Schema {
	switch {
	case p.Errors != nil:
		return validationProblemRef
	case p.Holder != nil:
		return heldProblemRef
	case p.FailedCheck != "":
		return activationProblemRef
	}
	return problemRef
}
