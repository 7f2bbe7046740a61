package main

import (
	"context"
	"log/slog"
	"os"
	"time"
)

// lookEvery is how often the files of a configuration are looked at.
const lookEvery = 2 * time.Second

// reload takes a changed configuration while the server runs. It is taken whole or not at
// all: while it has faults the one before stays in force.
type reload struct {
	path     string
	read     func(path string) (configuration, faults)
	evidence *evidence
	started  atStart // what the server started with
	log      *slog.Logger
	fileWatch
}

// watch reads the configuration at each signal, and when one of its files was changed.
func (r *reload) watch(ctx context.Context, signals <-chan os.Signal) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
			r.load()
		case <-ticker.C:
			if r.changed() {
				r.load()
			}
		}
	}
}

func (r *reload) load() {
	c, faults := r.read(r.path)
	r.seen = c.versions
	if len(faults) > 0 {
		for _, fault := range faults {
			r.log.Error("the configuration is faulty; the one before stays in force", "fault", fault)
		}
		return
	}
	r.evidence.take(c)
	for _, section := range c.changed(r.started) {
		r.log.Warn("a section was changed that is taken at the next start", "section", section)
	}
	r.log.Info("the configuration was taken", "roots", len(c.roots), "intermediates", len(c.intermediates), "timestamp authorities", len(c.authorities))
}
