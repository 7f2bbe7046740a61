package wiretest

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	status := m.Run()
	Clean()
	os.Exit(status)
}
