package handbook_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The numbers of docs/reference/limits.md are those of the API's document, which has them from where
// requests are judged, and of what --help of the server says.
func TestLimitsAreThose(t *testing.T) {
	paper := string(contents(t, filepath.Join(testenv.Root(t), "docs", "reference", "limits.md")))
	document := anything(t, theSandbox(t).BaseURL+"/openapi.json")
	for row, places := range map[string][]string{
		"`file.name`":                                   {"SigningFile/properties/name/maxLength", "SigningProcessDraft/properties/file/properties/name/maxLength"},
		"`signer.phone`":                                {"Signer/then/properties/phone/maxLength"},
		"`signer.country`, `signer.city`":               {"Signer/properties/country/maxLength", "Signer/properties/city/maxLength", "Signer/properties/reason/maxLength"},
		"`busySignal.userId`":                           {"BusySignalUse/properties/userId/maxLength"},
		"`participants` ":                               {"SigningProcessDraft/properties/participants/maxItems"},
		"`participants[].name`":                         {"Invitee/properties/name/maxLength", "Invitee/properties/email/maxLength"},
		"The URL of a webhook":                          {"WebhookDraft/properties/url/maxLength", "WebhookChange/properties/url/maxLength"},
		"A sandbox user's `fullName`":                   {"SandboxUserDraft/properties/fullName/maxLength", "SandboxUserDraft/properties/kennitala/maxLength", "SandboxUserDraft/properties/phone/maxLength"},
		"A sandbox user's `delayInSecondsBeforeAction`": {"SandboxUserDraft/properties/delayInSecondsBeforeAction/maximum"},
		"The `reason` of a decline":                     {"SandboxDecline/properties/reason/maxLength"},
	} {
		for _, place := range places {
			number := fmt.Sprint(at(t, document, "components/schemas/"+place))
			if !regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row) + `.*\|.*\b` + number + `\b`).MatchString(paper) {
				t.Errorf("the row of %s does not have %s, which is %s", row, number, place)
			}
		}
	}
	// docs/configuration.md has the defaults from the program: a test of cmd/innsigli's sees to it.
	page, settings := strings.Join(strings.Fields(paper), " "), string(contents(t, filepath.Join(testenv.Root(t), "docs", "configuration.md")))
	for words, defaults := range map[string]map[string]string{
		"20 times a second, and 60 times at once":           {"client-rate": "20", "client-burst": "60"},
		"10 a second and 100 at once":                       {"address-rate": "10", "address-burst": "100"},
		"5 sign requests of an account that wait":           {"person-pending": "5"},
		"get 20 in an hour that do not lead":                {"person-starts": "20"},
		"documents of 1.25 GiB in all":                      {"documents": "1280"},
		"less than 8 KiB a second, once 30 seconds":         {"least-rate": "8192", "slow-after": "30s"},
		"Webhook subscriptions of an account | 100 ":        {"max-subscriptions": "100"},
		"has 2,000 connections, of which 400 are from one ": {"connections": "2000", "connections-per-address": "400"},
	} {
		if !strings.Contains(page, words) {
			t.Errorf("the page does not say %q", words)
		}
		for key, value := range defaults {
			if !regexp.MustCompile("(?m)^\\| `" + key + "` \\| \\w+ \\| `" + value + "` ").MatchString(settings) {
				t.Errorf("the default of %s is not %s, of which the page says %q", key, value, words)
			}
		}
	}
}

// anything is the JSON that an address answers.
func anything(t *testing.T, address string) (v any) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// at is what JSON has at a place.
func at(t *testing.T, v any, place string) any {
	t.Helper()
	for name := range strings.SplitSeq(place, "/") {
		object, _ := v.(map[string]any)
		if v = object[name]; v == nil {
			t.Fatalf("the document has no %s", place)
		}
	}
	return v
}
