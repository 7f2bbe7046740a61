package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/server/config"
)

// CheckProvider checks the identity provider and the login provider of a file, if it has them and no faults. With
// request it also asks the identity provider for the certificate of NoKennitala, which no person has. It returns an
// error if a provider cannot be opened, or if the context has ended.
func CheckProvider(ctx context.Context, path string, f config.File, faults config.Faults, request bool) (Results, error) {
	var r Results
	for _, fault := range faults {
		r.fault("configuration", fault, "")
	}
	if len(faults) > 0 {
		return r, nil
	}
	r.ok("configuration", path+" has no faults")
	if f.Provider != nil {
		if err := r.addProvider(ctx, *f.Provider, request); err != nil {
			return r, err
		}
	}
	if f.Logins != nil {
		if err := r.addLogin(ctx, *f.Logins); err != nil {
			return r, err
		}
	}
	return r, ctx.Err()
}

// addProvider adds the findings about the identity provider, with or without an authentication request.
func (r *Results) addProvider(ctx context.Context, p config.Provider, request bool) error {
	p.Adapter.SIM.NoLearning = false // the certificate of the SIM of NoPhone is not known
	client, provider, err := p.Open()
	if err != nil {
		return fmt.Errorf("the identity provider: %w", err)
	}
	report, err := client.Check(ctx)
	if err != nil {
		return err
	}
	r.addReport(report, p, provider.ACRValues())
	if request && report.Endpoints.BackchannelAuthentication != "" {
		r.addRequest(ctx, provider)
	}
	return nil
}

// topics has the topics in the order of the findings.
var topics = []ciba.Topic{ciba.TopicMetadata, ciba.TopicKeys, ciba.TopicClock, ciba.TopicClient, ciba.TopicTokens, ciba.TopicEndpoints}

// advice has what the operator can do about a fault of each topic.
var advice = map[ciba.Topic]string{
	ciba.TopicMetadata:  "issuer must be exactly the issuer of the provider; discovery sets the URL of the metadata.",
	ciba.TopicKeys:      "Tokens of the provider cannot be verified without its keys; jwks in the table of endpoints sets their URL.",
	ciba.TopicClock:     "Synchronize the clock of this machine with NTP.",
	ciba.TopicClient:    "Check client-id, authentication, client-secret-file and secret-encoding; the provider may have registered the client with others, or not for this use.",
	ciba.TopicTokens:    "Check token in the table of endpoints, and whether a firewall or proxy blocks the connection.",
	ciba.TopicEndpoints: "Check the table of endpoints.",
}

// addReport adds the findings of the client, which sent no authentication request.
func (r *Results) addReport(report ciba.Report, p config.Provider, acr []string) {
	texts := textsOf(report, p.Client)
	for _, topic := range topicsOf(report) {
		problems, doubts := about(topic, report.Problems), about(topic, report.Warnings)
		for _, problem := range problems {
			r.fault(string(topic), problem.Text, advice[topic])
		}
		for _, doubt := range doubts {
			r.doubt(string(topic), doubt.Text, advice[topic])
		}
		ok := problems == nil && doubts == nil
		if says := texts[topic]; says != "" && ok {
			r.ok(string(topic), says)
		}
		if topic == ciba.TopicMetadata && (ok || report.ACRValues != nil || report.DeliveryModes != nil) {
			r.addListed("acr values", acr, report.ACRValues, "Check certificate-acr, sign-acr and acr; the metadata of a provider need not list all values.")
			r.addListed("delivery", []string{deliveryMode(p)}, report.DeliveryModes, "The provider must have registered the client for this delivery mode.")
		}
	}
}

// topicsOf returns topics, and then the other topics of the report.
func topicsOf(report ciba.Report) []ciba.Topic {
	all := slices.Clone(topics)
	for _, problem := range slices.Concat(report.Problems, report.Warnings) {
		if !slices.Contains(all, problem.Topic) {
			all = append(all, problem.Topic)
		}
	}
	return all
}

// about returns the problems of a topic.
func about(topic ciba.Topic, list []ciba.Problem) (found []ciba.Problem) {
	for _, problem := range list {
		if problem.Topic == topic {
			found = append(found, problem)
		}
	}
	return found
}

// textsOf returns the texts of findings about topics without a problem. A topic that was not checked has none.
func textsOf(report ciba.Report, o ciba.Options) map[ciba.Topic]string {
	texts := map[ciba.Topic]string{ciba.TopicMetadata: "the issuer is " + o.Issuer}
	if address := report.Endpoints.BackchannelAuthentication; address != "" {
		texts[ciba.TopicEndpoints] = "requests go to " + address
	}
	if report.Endpoints.JWKS != "" {
		texts[ciba.TopicKeys] = fmt.Sprintf("%d usable", report.Keys)
	}
	if report.Endpoints.Token != "" && about(ciba.TopicTokens, report.Problems) == nil {
		texts[ciba.TopicClock] = "the clock of the provider is " + ahead(report.Skew)
		texts[ciba.TopicClient] = "the provider accepts the client " + o.ClientID
	}
	return texts
}

// ahead returns the text of a difference of clocks.
func ahead(skew time.Duration) string {
	switch {
	case skew > 0:
		return fmt.Sprint(skew, " ahead")
	case skew < 0:
		return fmt.Sprint(-skew, " behind")
	}
	return "right"
}

// deliveryMode returns the token delivery mode (CIBA Core 1.0 section 5).
func deliveryMode(p config.Provider) string {
	if p.Adapter.Ping {
		return "ping"
	}
	return "poll"
}

// addListed compares the values of requests with those that the metadata lists. known is nil if the metadata has no list.
func (r *Results) addListed(what string, used, known []string, advice string) {
	missing := unlisted(used, known)
	switch {
	case known == nil:
		r.doubt(what, "the metadata does not list them", "")
	case missing != nil:
		r.doubt(what, "the metadata does not list "+strings.Join(missing, ", "), advice)
	default:
		r.ok(what, strings.Join(used, ", "))
	}
}

// unlisted returns the used values that are not known.
func unlisted(used, known []string) (missing []string) {
	for _, value := range used {
		if !slices.Contains(known, value) {
			missing = append(missing, value)
		}
	}
	return missing
}

const (
	NoKennitala = "0000000000" // a kennitala that no person can have: there is no day 00
	NoPhone     = "0000000"    // a phone number that no person can have: none in Iceland begins with 0
)

// acceptedCodes are the error codes of providers that accepted a request and found no person to ask.
var acceptedCodes = []idp.ErrorCode{idp.UserNotFound, idp.UserHasNoPhone, idp.CertificateNotFound, idp.KeyNotFound}

// addRequest sends an authentication request for NoKennitala. The provider verifies the signature of the request before it
// looks the person up. If it refuses the request for the app, one for the SIM decides whether that is a fault or a doubt.
func (r *Results) addRequest(ctx context.Context, provider idp.Provider) {
	const what = "request"
	event, err := testRequest(ctx, provider, idp.App)
	if err != nil {
		r.fault(what, fmt.Sprintf("the test request failed: %v", err), "")
		return
	}
	failed, ok := event.(idp.Failed)
	switch {
	case !ok:
		r.doubt(what, "the provider accepted the signed request, and has begun to ask kennitala "+NoKennitala, "The provider seems to look the person up later. No person has this kennitala, so no phone rings.")
	case slices.Contains(acceptedCodes, failed.Code):
		r.ok(what, "the provider accepted the signed request; no person was asked")
	case !isOutage(failed.Code) && acceptsSIM(ctx, provider):
		r.doubt(what, fmt.Sprintf("the provider accepted the signed request for the SIM, and refused it for the app: %s", describe(failed.Failure)),
			"Check certificate-acr; the provider may not have registered the client for the app.")
	default:
		r.fault(what, fmt.Sprintf("the provider refused the test request: %s", describe(failed.Failure)), requestAdvice(failed.Code))
	}
}

// testRequest asks NoKennitala or NoPhone to sign, up to the first request to the provider.
func testRequest(ctx context.Context, provider idp.Provider, m idp.Method) (idp.Event, error) {
	person := idp.Person{Method: m, Kennitala: NoKennitala, Phone: NoPhone}
	state, event, err := provider.Begin(ctx, rand.Text(), person, idp.Text{Document: "innsigli idp check"}, nil)
	if _, ok := event.(idp.NeedDigest); ok && err == nil {
		digest := provider.Traits(m).Algorithm.Digest([]byte(rand.Text()))
		_, event, err = provider.Sign(ctx, state, []ades.Digest{digest})
	}
	return event, err
}

// acceptsSIM reports whether the provider accepts a request for the SIM of NoPhone.
func acceptsSIM(ctx context.Context, provider idp.Provider) bool {
	event, err := testRequest(ctx, provider, idp.SIM)
	failed, ok := event.(idp.Failed)
	return err == nil && (!ok || slices.Contains(acceptedCodes, failed.Code))
}

// isOutage reports whether a code means that the provider did not decide about the request.
func isOutage(code idp.ErrorCode) bool {
	return code == idp.CommunicationError || code == idp.SystemUnderMaintenance
}

// describe returns the error texts of the provider with the error code of the service.
func describe(f idp.Failure) string {
	texts := slices.DeleteFunc([]string{f.OAuth, f.Description}, func(text string) bool { return text == "" })
	return fmt.Sprintf("%q, which clients get as errorCode %q", strings.Join(texts, ": "), f.Code)
}

func requestAdvice(code idp.ErrorCode) string {
	switch {
	case code == idp.InvalidRequest:
		return "Register the public key of key with the provider; check issuer, key-id, algorithm and the clock."
	case code == idp.InvalidClient, code == idp.AuthorizationPartyUnknown, code == idp.UnauthorizedClient:
		return "The provider has another secret for the client, or has not registered it for such requests."
	case isOutage(code):
		return "Try again later; if it still fails, check backchannel-authentication in [identity-provider.endpoints]."
	}
	return "If this error means that there is no such person, add it to [[identity-provider.error]]."
}

// addLogin adds the findings about the login provider: in a browser, and on phones if that is configured. No person is
// asked.
func (r *Results) addLogin(ctx context.Context, p config.LoginProvider) error {
	const what = "login"
	browser, err := p.OpenBrowser("https://localhost/")
	if err != nil {
		return fmt.Errorf("the login: %w", err)
	}
	report, err := browser.Check(ctx)
	if err == nil && p.Phones != nil {
		report, err = withPhone(ctx, p, report)
	}
	if err != nil {
		return err
	}
	for _, problem := range report.Problems {
		r.fault(what, problem.String(), advice[problem.Topic])
	}
	for _, doubt := range report.Warnings {
		r.doubt(what, doubt.String(), advice[doubt.Topic])
	}
	missing := unlisted(acrValues(p), report.ACRValues)
	if report.ACRValues != nil && missing != nil {
		r.doubt(what, "the metadata does not list "+strings.Join(missing, ", "), "Check acr-values, app-acr and sim-acr; the metadata of a provider need not list all values.")
	}
	if report.Problems == nil {
		page, _, _ := strings.Cut(report.Endpoints.Authorization, "?")
		r.ok(what, "people log in at "+page)
	}
	return nil
}

// withPhone returns a report with the problems that the same client has for CIBA, which logins on phones use.
func withPhone(ctx context.Context, p config.LoginProvider, report ciba.Report) (ciba.Report, error) {
	client, err := ciba.New(p.Client)
	if err != nil {
		return report, err
	}
	phone, err := client.Check(ctx)
	report.Problems = union(report.Problems, phone.Problems)
	report.Warnings = union(report.Warnings, phone.Warnings)
	return report, err
}

// union returns all with the problems of more that it lacks.
func union(all, more []ciba.Problem) []ciba.Problem {
	for _, problem := range more {
		if !slices.Contains(all, problem) {
			all = append(all, problem)
		}
	}
	return all
}

// acrValues returns the acr_values of logins.
func acrValues(p config.LoginProvider) []string {
	all := slices.Clone(p.Browser.ACR)
	for _, phone := range p.Phones {
		all = append(all, phone.ACR)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
