package stamp

import "image"

// sheet is a page in squares as it is seen from a corner: that is the origin, and x and y run
// inwards, so that every search is one from the upper left.
type sheet struct {
	grid
	corner Corner
	room   []int32 // of each square, row by row: how many are free from it on inwards from the edge
}

// newSheet returns a page whose squares are free where they are not covered.
func newSheet(g grid, c Corner, covered []bool) *sheet {
	s := &sheet{grid: g, corner: c, room: make([]int32, len(covered))}
	for y := s.height - 1; y >= 0; y-- {
		room := s.room[y*s.width:][:s.width]
		if y < s.height-1 {
			copy(room, s.room[(y+1)*s.width:])
		}
		row := y
		if c.bottom() {
			row = s.height - 1 - y
		}
		for x, m := range covered[row*s.width:][:s.width] {
			if c.right() {
				x = s.width - 1 - x
			}
			if room[x]++; m {
				room[x] = 0
			}
		}
	}
	return s
}

// first returns the first free place, along the edge and then inwards, from a row on.
func (s *sheet) first(box image.Point, row int) (at image.Point, ok bool) {
	for y := row; y+box.Y <= s.height; y++ {
		free := 0
		for x, room := range s.room[y*s.width:][:s.width] {
			if room < int32(box.Y) {
				free = 0
			} else if free++; free == box.X {
				return image.Pt(x+1-box.X, y), true
			}
		}
	}
	return image.Point{}, false
}

// free says whether a place is.
func (s *sheet) free(at, box image.Point) bool {
	if at.X+box.X > s.width || at.Y+box.Y > s.height {
		return false
	}
	for _, room := range s.room[at.Y*s.width+at.X:][:box.X] {
		if room < int32(box.Y) {
			return false
		}
	}
	return true
}

// inwards moves a free place away from the edges that it is closer to than wanted, as far as
// it stays free.
func (s *sheet) inwards(at, box, wanted image.Point) image.Point {
	for at.Y < wanted.Y && s.free(at.Add(image.Pt(0, 1)), box) {
		at.Y++
	}
	for at.X < wanted.X && s.free(at.Add(image.Pt(1, 0)), box) {
		at.X++
	}
	return at
}

// take takes a place on the page.
func (s *sheet) take(place Rect) {
	r := s.fromCorner(s.squares(place))
	for x := r.Min.X; x < r.Max.X; x++ {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			s.room[y*s.width+x] = 0
		}
		for y := range r.Min.Y {
			at := y*s.width + x
			s.room[at] = min(s.room[at], int32(r.Min.Y-y))
		}
	}
}

// fromCorner returns squares of the page as they are seen from the corner.
func (s *sheet) fromCorner(r image.Rectangle) image.Rectangle {
	if s.corner.right() {
		r.Min.X, r.Max.X = s.width-r.Max.X, s.width-r.Min.X
	}
	if s.corner.bottom() {
		r.Min.Y, r.Max.Y = s.height-r.Max.Y, s.height-r.Min.Y
	}
	return r
}
