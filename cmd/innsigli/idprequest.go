package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

const (
	nobody       = "0000000000" // a kennitala that nobody can have: there is no day 00
	nobodysPhone = "0000000"    // no number in Iceland begins with 0
)

// acceptedCodes are those of providers that took a request up and found nobody to ask.
var acceptedCodes = []idp.ErrorCode{idp.UserNotFound, idp.UserHasNoPhone, idp.CertificateNotFound, idp.KeyNotFound}

// addRequest asks for nobody's certificate. What was signed for it is verified before the
// person is looked up. A refusal of the app does not count where the SIM is not refused.
func (s *checkSheet) addRequest(ctx context.Context, provider idp.Provider) {
	const what = "request"
	event, err := askNobody(ctx, provider, idp.App)
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
	case !away(failed.Code) && takesSIM(ctx, provider):
		s.doubt(what, fmt.Sprintf("the provider accepted what the key signed for the SIM, and refused it for the app: %s", words(failed.Failure)),
			"See certificate-acr; the provider may not have registered the client for the app.")
	default:
		s.fault(what, fmt.Sprintf("the provider refused it: %s", words(failed.Failure)), requestAdvice(failed.Code))
	}
}

// askNobody asks nobody to sign, for the first time at which the provider hears of it.
func askNobody(ctx context.Context, provider idp.Provider, m idp.Method) (idp.Event, error) {
	person := idp.Person{Method: m, Kennitala: nobody, Phone: nobodysPhone}
	state, event, err := provider.Begin(ctx, rand.Text(), person, idp.Text{Document: "innsigli idp check"}, nil)
	if _, ok := event.(idp.NeedDigest); ok && err == nil {
		digest := provider.Traits(m).Algorithm.Digest([]byte(rand.Text()))
		_, event, err = provider.Sign(ctx, state, []ades.Digest{digest})
	}
	return event, err
}

// takesSIM says whether the provider takes up a request for nobody's SIM.
func takesSIM(ctx context.Context, provider idp.Provider) bool {
	event, err := askNobody(ctx, provider, idp.SIM)
	failed, ok := event.(idp.Failed)
	return err == nil && (!ok || slices.Contains(acceptedCodes, failed.Code))
}

// away says whether a code means that the provider did not get to decide anything.
func away(code idp.ErrorCode) bool {
	return code == idp.CommunicationError || code == idp.SystemUnderMaintenance
}

// words are what the provider said, and what the service makes of it.
func words(f idp.Failure) string {
	said := slices.DeleteFunc([]string{f.OAuth, f.Description}, func(text string) bool { return text == "" })
	return fmt.Sprintf("%q, which is told as errorCode %q", strings.Join(said, ": "), f.Code)
}

func requestAdvice(code idp.ErrorCode) string {
	switch {
	case code == idp.InvalidRequest:
		return "Give the provider the public key that belongs to key; see issuer, key-id and algorithm, and the clock."
	case code == idp.InvalidClient, code == idp.AuthorizationPartyUnknown, code == idp.UnauthorizedClient:
		return "The provider knows the client by another secret, or not for requests like this one."
	case away(code):
		return "Try again; see backchannel-authentication in [identity-provider.endpoints] if it stays so."
	}
	return "The row of this error belongs into [[identity-provider.error]], if it means that there is no such person."
}
