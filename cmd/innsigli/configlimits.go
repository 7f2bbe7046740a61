package main

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/internal/admission"
	"github.com/innsigli/innsigli/storage"
)

// limits are the [limits] of a configuration: what callers share, so that none takes it from the others.
type limits struct {
	client, address         storage.Rate // the zero Rate: none
	body, documents         int64        // bytes
	connections, perAddress int
	pace                    admission.Pace
}

// defaultLimits are those of a server that is told nothing (decisions.md 2.12).
var defaultLimits = limits{
	client:      storage.Rate{PerSecond: 20, Burst: 60},
	address:     storage.Rate{PerSecond: 10, Burst: 100},
	body:        30 * mebibyte,
	documents:   1280 * mebibyte,
	connections: 2000,
	perAddress:  400,
	pace:        admission.Pace{Grace: 30 * time.Second, Rate: 8 << 10},
}

// withoutRates are the limits of who tries the service out: as often as they like, and not with more than there is.
func (l limits) withoutRates() limits {
	l.client, l.address = storage.Rate{}, storage.Rate{}
	return l
}

const (
	maxRate        = 100_000
	maxConnections = 1_000_000
	minSlowAfter   = time.Second
	minLeastRate   = 1    // bytes a second
	maxBody        = 1024 // MiB
	bodies         = 4    // as long as any may be that are under way at once; an account has half of that
	mebibyte       = 1 << 20
)

func readLimits(t section) limits {
	l := defaultLimits
	readRate(t, "client", &l.client)
	readRate(t, "address", &l.address)
	if t.has("documents") {
		l.documents = int64(t.number("documents", 128, 1<<20)) * mebibyte
	}
	if t.has("body") {
		l.body = int64(t.number("body", 1, maxBody)) * mebibyte
	}
	if l.documents > 0 && l.body > l.documents/bodies {
		t.fault("body", "%d MiB are more than a quarter of documents, %d MiB", l.body/mebibyte, l.documents/mebibyte)
	}
	if t.has("connections") {
		l.connections = t.number("connections", 1, maxConnections)
	}
	if t.has("connections-per-address") {
		l.perAddress = t.number("connections-per-address", 1, maxConnections)
	}
	if t.has("slow-after") {
		if l.pace.Grace = t.span("slow-after"); l.pace.Grace > 0 && l.pace.Grace < minSlowAfter {
			t.fault("slow-after", "is less than %v", minSlowAfter)
		}
	}
	if t.has("least-rate") {
		l.pace.Rate = int64(t.number("least-rate", minLeastRate, 1<<30))
	}
	t.end()
	return l
}

// readRate reads a rate a second and a burst; a rate of 0 is no limit.
func readRate(t section, of string, into *storage.Rate) {
	if t.has(of + "-rate") {
		into.PerSecond = t.number(of+"-rate", 0, maxRate)
		into.Burst = max(into.Burst, into.PerSecond)
	}
	if t.has(of + "-burst") {
		into.Burst = t.number(of+"-burst", 1, maxRate)
	}
	if into.PerSecond == 0 {
		*into = storage.Rate{}
	}
}

// api is the part that the API sees to.
func (l limits) api(db store, m *requestMetrics) httpapi.Limits {
	return httpapi.Limits{Client: l.client, Address: l.address, Buckets: bucketsOf(db), Documents: l.documents, Watch: m.underWay.watch}
}

// bucketsOf are those of a store that several servers may share; nil: there are none.
func bucketsOf(db store) storage.Buckets {
	if shared, ok := db.(interface{ Buckets() storage.Buckets }); ok {
		return shared.Buckets()
	}
	return nil
}

// listener bounds the connections. Proxies connect for others, also one on this machine that is not
// configured.
func (l limits) listener(of net.Listener, known proxies) net.Listener {
	bounds := admission.Connections{Most: l.connections, PerAddress: l.perAddress, Exempt: func(a netip.Addr) bool {
		return a.IsLoopback() || known.trusts(a)
	}}
	return bounds.Listener(of)
}

// handler cuts slow clients off.
func (l limits) handler(h http.Handler) http.Handler { return l.pace.Handler(h) }

// sweepBuckets forgets clients that have not called of late.
func (s *server) sweepBuckets(ctx context.Context) (int, error) {
	shared := bucketsOf(s.db)
	if shared == nil {
		return 0, nil
	}
	return shared.DeleteFull(ctx, sweepBatch)
}
