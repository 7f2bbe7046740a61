package main

import (
	"bytes"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// The benchmarks are the trials as they are promised to end, and fail when they do not. Each is
// worth running alone: it takes its time, and other work on the machine counts in it.

// Start and poll beside a million ended requests, as multiples of their times on an empty
// store.
func BenchmarkGrowth(b *testing.B) {
	for b.Loop() {
		trial(b, "growth", "-postgres", postgrestest.Database(b), "-beside", postgrestest.Database(b))
	}
}

// Processes are created and read, and their documents, beside 100,000 others, at multiples of the times
// on an empty store.
func BenchmarkProcesses(b *testing.B) {
	for _, on := range backends {
		b.Run(on.name, func(b *testing.B) {
			for b.Loop() {
				trial(b, "processes", "-store", on.store(b), "-beside", on.store(b))
			}
		})
	}
}

// Pages that take much memory or time do not fill a server's memory, and keep no other account waiting.
func BenchmarkBombs(b *testing.B) {
	for b.Loop() {
		trial(b, "bombs", "-store", backends[0].store(b))
	}
}

// A service is well again within five seconds after its database is back.
func BenchmarkOutage(b *testing.B) {
	for b.Loop() {
		var out bytes.Buffer
		err := restarted(b, postgrestest.Cluster(b), wellWithin, &out)
		ends(b, &out, err)
	}
}

// 200 events a second for a minute, to endpoints of which some are slow or dead: 99 of 100 to the
// others are sent within a second, and all arrive, those to the slow ones in five minutes more.
func BenchmarkLoad(b *testing.B) {
	for _, on := range backends {
		b.Run(on.name, func(b *testing.B) {
			for b.Loop() {
				trial(b, "load", "-store", on.store(b))
			}
		})
	}
}

// 10,000 events, sent by processes that are killed: fewer than 0.1 % are sent again.
func BenchmarkWebhooks(b *testing.B) {
	for b.Loop() {
		trial(b, "webhooks", "-postgres", postgrestest.Database(b))
	}
}

// BenchmarkBurst says what share of the rate of a bare loop the service has (x-loop).
// INNSIGLI_FULL=1 sends 20,000 events a time, else it is 5,000.
func BenchmarkBurst(b *testing.B) {
	events := 5000
	if testenv.Full() {
		events = 20_000
	}
	for _, on := range backends {
		b.Run(on.name, func(b *testing.B) {
			o, err := openOffice(b.Context(), on.store(b), patient)
			if err != nil {
				b.Fatal(err)
			}
			defer o.close()
			const endpoints = 50
			var all []rates
			var shares []float64
			for b.Loop() {
				r, err := burst(b.Context(), o, len(all)*endpoints, endpoints, events)
				if err != nil {
					b.Fatal(err)
				}
				all, shares = append(all, r), append(shares, r.share())
			}
			b.ReportMetric(0, "ns/op") // which has the preparations in it
			b.ReportMetric(median(shares), "x-loop")
			var out bytes.Buffer
			ends(b, &out, printBurst(&out, all, on.least))
		})
	}
}
