package stamp_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"log"

	"github.com/innsigli/innsigli/stamp"
)

func ExampleImage_Draw() {
	var logo bytes.Buffer // from a file, say
	if err := png.Encode(&logo, image.NewGray(image.Rect(0, 0, 300, 100))); err != nil {
		log.Fatal(err)
	}
	i, err := stamp.ReadImage(logo.Bytes(), stamp.PNG)
	if err != nil {
		log.Fatal(err)
	}
	appearance, err := i.Draw(stamp.Size{Width: 120, Height: 60}, stamp.Drawing{Scaling: stamp.ZoomAndCenter})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", appearance[:8])
	// Output: %PDF-1.4
}
