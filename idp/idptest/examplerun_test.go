package idptest_test

import (
	"testing"

	"github.com/innsigli/innsigli/idp/idptest"
)

// The example is one of a provider that passes.
func TestExample(t *testing.T) { idptest.RunInBubble(t, simulation) }
