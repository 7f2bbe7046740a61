package audkenni

import (
	"testing"

	"github.com/innsigli/innsigli/idp"
)

func TestHint(t *testing.T) {
	for _, test := range []struct {
		hint  Hint
		phone string
		want  string
	}{
		{HintLocalPhone, "6990001", "6990001"},
		{HintLocalPhone, "699 0001", "6990001"},
		{HintLocalPhone, "699-0001", "6990001"},
		{HintLocalPhone, "+354 699 0001", "6990001"},
		{HintLocalPhone, "00354-699-0001", "6990001"},
		{HintLocalPhone, "354 699 0001", "354 699 0001"}, // nobody writes it so, and seven digits may begin so
		{HintLocalPhone, "3546990", "3546990"},
		{HintLocalPhone, "+45 20 12 34 56", "+45 20 12 34 56"},
		{HintLocalPhone, "+354 69", "+354 69"},
		{HintLocalPhone, "699000x", "699000x"},
		{HintLocalPhone, "٦٩٩٠٠٠١", "٦٩٩٠٠٠١"},
		{HintPhone, "+354 699-0001", "+354 699-0001"},
		{HintKennitala, "6990001", "0101302989"},
	} {
		t.Run(string(test.hint)+" of "+test.phone, func(t *testing.T) {
			person := idp.Person{Method: idp.SIM, Kennitala: "0101302989", Phone: test.phone}
			if got := test.hint.of(person); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}
