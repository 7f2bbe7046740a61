package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp/ciba"
)

// topics are in the order of the sheet.
var topics = []ciba.Topic{ciba.TopicMetadata, ciba.TopicKeys, ciba.TopicClock, ciba.TopicClient, ciba.TopicTokens, ciba.TopicEndpoints}

// advices are what to do about them.
var advices = map[ciba.Topic]string{
	ciba.TopicMetadata:  "issuer has to be the provider's own, byte for byte; discovery says where the metadata is.",
	ciba.TopicKeys:      "Its tokens cannot be verified without them; jwks among the endpoints says where they are.",
	ciba.TopicClock:     "Keep the clock of this machine by NTP.",
	ciba.TopicClient:    "See client-id, authentication, client-secret-file and secret-encoding; the provider may know the client by others, or not for this.",
	ciba.TopicTokens:    "See token among the endpoints, and whether a firewall or proxy is in between.",
	ciba.TopicEndpoints: "See the table of endpoints.",
}

// addReport enters what the client found out without asking for anybody.
func (s *checkSheet) addReport(r ciba.Report, p identityProvider, acr []string) {
	right := rightOnes(r, p.client)
	for _, topic := range topicsOf(r) {
		problems, doubts := about(topic, r.Problems), about(topic, r.Doubts)
		for _, problem := range problems {
			s.fault(string(topic), problem.Text, advices[topic])
		}
		for _, doubt := range doubts {
			s.doubt(string(topic), doubt.Text, advices[topic])
		}
		nothing := problems == nil && doubts == nil
		if says := right[topic]; says != "" && nothing {
			s.ok(string(topic), says)
		}
		if topic == ciba.TopicMetadata && (nothing || r.ACRValues != nil || r.DeliveryModes != nil) {
			s.addListed("acr values", acr, r.ACRValues, "See certificate-acr, sign-acr and acr; a provider need not name all of them.")
			s.addListed("delivery", []string{deliveryMode(p)}, r.DeliveryModes, "The provider has to have registered the client for what delivery says.")
		}
	}
}

// topicsOf are the topics of the sheet, and what else the report is about.
func topicsOf(r ciba.Report) []ciba.Topic {
	all := slices.Clone(topics)
	for _, problem := range slices.Concat(r.Problems, r.Doubts) {
		if !slices.Contains(all, problem.Topic) {
			all = append(all, problem.Topic)
		}
	}
	return all
}

func about(topic ciba.Topic, list []ciba.Problem) (those []ciba.Problem) {
	for _, problem := range list {
		if problem.Topic == topic {
			those = append(those, problem)
		}
	}
	return those
}

// rightOnes are what is to be said of each topic when nothing is wrong with it, if it is known.
func rightOnes(r ciba.Report, o ciba.Options) map[ciba.Topic]string {
	right := map[ciba.Topic]string{ciba.TopicMetadata: "its issuer is " + o.Issuer}
	if address := r.Endpoints.BackchannelAuthentication; address != "" {
		right[ciba.TopicEndpoints] = "requests go to " + address
	}
	if r.Endpoints.JWKS != "" {
		right[ciba.TopicKeys] = fmt.Sprintf("%d that can be used", r.Keys)
	}
	if r.Endpoints.Token != "" && about(ciba.TopicTokens, r.Problems) == nil {
		right[ciba.TopicClock] = "the provider's is " + ahead(r.Skew)
		right[ciba.TopicClient] = "the provider knows " + o.ClientID
	}
	return right
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

// deliveryMode returns the token delivery mode (CIBA Core 1.0 section 5).
func deliveryMode(p identityProvider) string {
	if p.adapter.Ping {
		return "ping"
	}
	return "poll"
}

// addListed compares the values that requests have with those that the metadata names; known
// is nil when it names none.
func (s *checkSheet) addListed(what string, used, known []string, advice string) {
	missing := unlisted(used, known)
	switch {
	case known == nil:
		s.doubt(what, "the metadata does not say which there are", "")
	case missing != nil:
		s.doubt(what, "the metadata does not name "+strings.Join(missing, ", "), advice)
	default:
		s.ok(what, strings.Join(used, ", "))
	}
}

func unlisted(used, known []string) (missing []string) {
	for _, value := range used {
		if !slices.Contains(known, value) {
			missing = append(missing, value)
		}
	}
	return missing
}
