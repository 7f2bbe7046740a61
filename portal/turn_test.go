package portal

import "testing"

func TestOrders(t *testing.T) {
	want := orderID{"a process", "a participant", 7}
	if got, err := parseOrderID(want.String()); got != want || err != nil {
		t.Error(got, err)
	}
	for _, text := range []string{"", "a", "a/b", "a/b/c", "a/b/1/2", "a/b/99999999999999999999"} {
		if o, err := parseOrderID(text); err == nil {
			t.Errorf("%q is %v", text, o)
		}
	}
}
