package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/idp/ciba"
)

// topic is what sentences of a ciba.Report are about, by how they begin, and what to do then.
type topic struct{ begins, what, advice string }

// topics are in the order of the sheet. The last is for all other sentences.
var topics = []topic{
	{"the metadata", "metadata", "issuer has to be the provider's own, byte for byte; discovery says where the metadata is."},
	{"the provider's keys", "keys", "Its tokens cannot be verified without them; jwks in [identity-provider.endpoints] says where they are."},
	{"the provider's clock", "clock", "Keep the clock of this machine by NTP."},
	{"the token endpoint does not", "client", "See client-id, authentication, client-secret-file and secret-encoding; the provider may know the client by others."},
	{"the token endpoint", "tokens", "See token in [identity-provider.endpoints], and whether a firewall or proxy is in between."},
	{"", "endpoints", "See [identity-provider.endpoints]."},
}

func (t topic) has(sentence string) bool { return strings.HasPrefix(sentence, t.begins) }

// addReport enters what the client found out without asking for anybody.
func (s *checkSheet) addReport(r ciba.Report, p *identityProvider) {
	right := rightOnes(r, p.client)
	for _, t := range topics {
		var problems, doubts []string
		problems, r.Problems = split(r.Problems, t.has)
		doubts, r.Doubts = split(r.Doubts, t.has)
		for _, sentence := range problems {
			s.fault(t.what, strings.TrimPrefix(sentence, t.begins+": "), t.advice)
		}
		for _, sentence := range doubts {
			s.doubt(t.what, strings.TrimPrefix(sentence, t.begins+": "), t.advice)
		}
		if says := right[t.what]; says != "" && problems == nil && doubts == nil {
			s.ok(t.what, says)
		}
		if t.what == "metadata" && (r.ACRValues != nil || problems == nil && doubts == nil) {
			s.addACRValues(r.ACRValues, p.adapter)
		}
	}
}

// rightOnes are what is to be said of each topic when nothing is wrong with it, if it is known.
func rightOnes(r ciba.Report, o ciba.Options) map[string]string {
	right := map[string]string{"metadata": "its issuer is " + o.Issuer}
	if address := r.Endpoints.BackchannelAuthentication; address != "" {
		right["endpoints"] = "requests go to " + address
	}
	if r.Endpoints.JWKS != "" {
		right["keys"] = fmt.Sprintf("%d that can be used", r.Keys)
	}
	unanswered := slices.ContainsFunc(r.Problems, func(sentence string) bool { return strings.HasPrefix(sentence, "the token endpoint: ") })
	if r.Endpoints.Token != "" && !unanswered {
		right["clock"] = "the provider's is " + ahead(r.Skew)
		right["client"] = "the provider knows " + o.ClientID
	}
	return right
}

// split divides a list into those that are meant and the others.
func split(list []string, meant func(string) bool) (those, others []string) {
	for _, text := range list {
		if meant(text) {
			those = append(those, text)
		} else {
			others = append(others, text)
		}
	}
	return those, others
}

func ahead(skew time.Duration) string {
	switch {
	case skew > 0:
		return fmt.Sprint(skew, " ahead")
	case skew < 0:
		return fmt.Sprint(-skew, " behind")
	}
	return "right"
}

// addACRValues compares the values that requests have with those that the metadata names.
func (s *checkSheet) addACRValues(known []string, o audkenni.Options) {
	used := []string{o.App.CertificateACR, o.App.SignACR, cmp.Or(o.SIM.CMSACR, o.SIM.ACR)}
	missing := slices.DeleteFunc(slices.Clone(used), func(acr string) bool { return slices.Contains(known, acr) })
	switch {
	case known == nil:
		s.doubt("acr values", "the metadata does not say which there are", "")
	case len(missing) > 0:
		s.doubt("acr values", "the metadata does not name "+strings.Join(missing, ", "), "See certificate-acr, sign-acr and acr; a provider need not name all of them.")
	default:
		s.ok("acr values", strings.Join(used, ", "))
	}
}

// nobody is a kennitala that nobody can have: there is no day 00.
const nobody = "0000000000"

// acceptedCodes are those of providers that took a request up and found nobody to ask.
var acceptedCodes = []idp.ErrorCode{idp.UserNotFound, idp.UserHasNoPhone, idp.CertificateNotFound, idp.KeyNotFound}

// addRequest asks for nobody's certificate. What was signed for it is verified before the
// person is looked up.
func (s *checkSheet) addRequest(ctx context.Context, provider idp.Provider) {
	const what = "request"
	person := idp.Person{Method: idp.App, Kennitala: nobody}
	_, event, err := provider.Begin(ctx, rand.Text(), person, idp.Text{Document: "innsigli idp check"}, nil)
	if err != nil {
		s.fault(what, fmt.Sprintf("a request for nobody: %v", err), "")
		return
	}
	failed, ok := event.(idp.Failed)
	switch {
	case !ok:
		s.doubt(what, "the provider accepted what the key signed, and asks somebody with kennitala "+nobody, "It looks people up later. No phone of anybody rings.")
	case slices.Contains(acceptedCodes, failed.Code):
		s.ok(what, "the provider accepted what the key signed; nobody was asked")
	default:
		s.fault(what, fmt.Sprintf("the provider refused it: %s", words(failed.Failure)), requestAdvice(failed.Code))
	}
}

// words are what the provider said, and what the service makes of it.
func words(f idp.Failure) string {
	said := slices.DeleteFunc([]string{f.OAuth, f.Description}, func(text string) bool { return text == "" })
	return fmt.Sprintf("%q, which is told as errorCode %q", strings.Join(said, ": "), f.Code)
}

func requestAdvice(code idp.ErrorCode) string {
	switch code {
	case idp.InvalidRequest:
		return "Give the provider the public key that belongs to key; see issuer, key-id and algorithm, and the clock."
	case idp.InvalidClient, idp.AuthorizationPartyUnknown, idp.UnauthorizedClient:
		return "The provider knows the client by another secret, or not for requests like this one."
	case idp.CommunicationError, idp.SystemUnderMaintenance:
		return "Try again; see backchannel-authentication in [identity-provider.endpoints] if it stays so."
	}
	return "The row of this error belongs into [[identity-provider.error]], if it means that there is no such person."
}

// addLogin enters whether people can be sent to log in. The metadata is read for that, and
// its issuer compared.
func (s *checkSheet) addLogin(ctx context.Context, p *loginProvider) {
	const what = "login"
	browser, err := p.open("https://localhost/")
	if err != nil {
		s.fault(what, err.Error(), "")
		return
	}
	address, _, err := browser.Begin(ctx)
	if err != nil {
		s.fault(what, strings.TrimPrefix(err.Error(), "ciba: "), "See issuer and discovery in [login].")
		return
	}
	page, _, _ := strings.Cut(address, "?")
	s.ok(what, "people are sent to "+page)
}
