package stamp_test

import (
	"fmt"
	"os"
	"time"

	"github.com/innsigli/innsigli/stamp"
)

// The picture of a signature, which pades takes for an appearance.
func ExampleStandard() {
	page, err := stamp.Standard(stamp.Text{
		Name:      "Þórður Ægir Öðinsson",
		Kennitala: "0101302989",
		Time:      time.Now(),
		Reason:    "Undirritun",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := os.WriteFile(os.DevNull, page, 0o600); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, %g by %g points\n", page[:8], stamp.StandardSize.Width, stamp.StandardSize.Height)
	// Output: %PDF-1.4, 117 by 55 points
}
