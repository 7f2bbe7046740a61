package ca

import (
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Visits counts the requests that arrive somewhere, by their paths. The zero value is ready.
type Visits struct {
	mu    sync.Mutex
	count map[string]int
}

// Front counts what goes to the next.
func (v *Visits) Front(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, path, _ := strings.Cut(r.URL.Path, "/")
		path, _, _ = strings.Cut(path, "/")
		v.mu.Lock()
		if v.count == nil {
			v.count = make(map[string]int)
		}
		v.count["/"+path]++
		v.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// Take returns how often each path was asked for, by its first part, and begins anew.
func (v *Visits) Take() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	taken := maps.Clone(v.count)
	clear(v.count)
	return taken
}
