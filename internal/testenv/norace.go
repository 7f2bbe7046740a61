//go:build !race

package testenv

// Race says whether tests run under the race detector, which makes them several times slower.
const Race = false
