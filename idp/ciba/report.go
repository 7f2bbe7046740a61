package ciba

import (
	"fmt"
	"time"
)

// Report is what [Client.Check] found.
type Report struct {
	// Problems keep the client from working. None: as far as can be known without asking a
	// person, it works.
	Problems []Problem
	// Doubts are what the provider's metadata says otherwise than the options. The metadata may
	// be wrong: not every provider keeps it.
	Doubts []Problem

	Endpoints Endpoints // those there are, with addresses that can be used
	Keys      int       // how many of the provider's keys can be used
	// ACRValues and DeliveryModes are acr_values_supported and
	// backchannel_token_delivery_modes_supported ("poll", "ping", "push"); nil: the provider
	// does not say. Which are needed is for the caller to know.
	ACRValues     []string
	DeliveryModes []string
	Skew          time.Duration // how far the provider's clock is ahead of ours, to about a second
}

// Problem is one thing that Check found.
type Problem struct {
	Topic Topic
	Text  string // what it is, on one line
}

// String is the topic and the text.
func (p Problem) String() string { return string(p.Topic) + ": " + p.Text }

// Topic is what a [Problem] is about.
type Topic string

const (
	TopicMetadata  Topic = "metadata"  // it cannot be read, or says otherwise than the options
	TopicEndpoints Topic = "endpoints" // one is missing, or has an address that cannot be used
	TopicKeys      Topic = "keys"      // the provider's, which its tokens are verified with
	TopicClock     Topic = "clock"     // the provider's or ours
	TopicClient    Topic = "client"    // the provider does not know it, or not so
	TopicTokens    Topic = "tokens"    // the token endpoint gives no answer, or one that makes no sense
)

func (r *Report) problem(about Topic, format string, values ...any) {
	r.Problems = append(r.Problems, Problem{about, fmt.Sprintf(format, values...)})
}

func (r *Report) doubt(about Topic, format string, values ...any) {
	r.Doubts = append(r.Doubts, Problem{about, fmt.Sprintf(format, values...)})
}
