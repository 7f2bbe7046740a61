package stamp

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
)

// quality is that of a JPEG that is encoded again: nothing is to be seen of it in print.
const quality = 92

// addLossy adds a picture that came as a JPEG: as the file that it was in, or where that is nil,
// encoded again.
func addLossy(page *onePage, p picture, file []byte) (int, error) {
	if file == nil {
		var encoded bytes.Buffer
		if err := jpeg.Encode(&encoded, p, &jpeg.Options{Quality: quality}); err != nil {
			return 0, err
		}
		file = encoded.Bytes()
	}
	b, space := p.Bounds(), page.addRGB
	if _, ok := p.(*image.Gray); ok {
		space = page.addGray
	}
	return page.addEncoded(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s /BitsPerComponent 8 /Filter /DCTDecode",
		b.Dx(), b.Dy(), space()), file), nil
}
