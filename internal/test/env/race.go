//go:build race

package env

// Race says whether tests run under the race detector, which makes them several times slower.
const Race = true
