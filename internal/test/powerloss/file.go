package powerloss

import "math/rand/v2"

const (
	pageSize   = 4096
	sectorSize = 512
)

type page [pageSize]byte

// content is what a file contains. A missing page is zeros.
type content struct {
	pages []*page
	size  int64
}

func (c *content) page(i int) *page {
	if i < len(c.pages) {
		return c.pages[i]
	}
	return nil
}

func (c *content) set(i int, p *page) {
	for len(c.pages) <= i {
		c.pages = append(c.pages, nil)
	}
	c.pages[i] = p
}

// file is the content of a file as programs see it, and as it was when it was last flushed. The two share the pages
// that are not dirty.
type file struct {
	live, stable content
	dirty        map[int]bool
}

// readAt copies the content from an offset into b, and returns how many bytes there are.
func (f *file) readAt(b []byte, at int64) int {
	if at >= f.live.size {
		return 0
	}
	b = b[:min(int64(len(b)), f.live.size-at)]
	for done := 0; done < len(b); {
		from := (at + int64(done)) % pageSize
		part := b[done:min(int64(len(b)), int64(done)+pageSize-from)]
		if p := f.live.page(int((at + int64(done)) / pageSize)); p != nil {
			copy(part, p[from:])
		} else {
			clear(part)
		}
		done += len(part)
	}
	return len(b)
}

func (f *file) writeAt(b []byte, at int64) {
	f.live.size = max(f.live.size, at+int64(len(b)))
	for len(b) > 0 {
		from := at % pageSize
		n := copy(f.own(int(at / pageSize))[from:], b)
		b, at = b[n:], at+int64(n)
	}
}

// own returns a page that may be changed: of the live content alone.
func (f *file) own(i int) *page {
	p := f.live.page(i)
	if p == nil || !f.dirty[i] {
		own := new(page)
		if p != nil {
			*own = *p
		}
		p = own
		f.live.set(i, p)
		f.touch(i)
	}
	return p
}

func (f *file) touch(i int) {
	if f.dirty == nil {
		f.dirty = make(map[int]bool)
	}
	f.dirty[i] = true
}

func (f *file) truncate(size int64) {
	if size < f.live.size {
		kept := int((size + pageSize - 1) / pageSize)
		for i := kept; i < len(f.live.pages); i++ {
			f.touch(i)
		}
		f.live.pages = f.live.pages[:min(kept, len(f.live.pages))]
		if rest := size % pageSize; rest > 0 && f.live.page(kept-1) != nil {
			clear(f.own(kept - 1)[rest:])
		}
	}
	f.live.size = size
}

// sync makes the live content the stable one.
func (f *file) sync() {
	for i := range f.dirty {
		f.stable.set(i, f.live.page(i))
	}
	clear(f.dirty)
	f.stable.size = f.live.size
}

// survivor returns the file as a power loss leaves it: the stable content, and of what was not flushed the sectors that
// luck keeps.
func (f *file) survivor(luck *luck) *file {
	left := &file{stable: content{size: f.stable.size}}
	if f.stable.size != f.live.size && luck.keeps() {
		left.stable.size = f.live.size
	}
	for i := range max(len(f.stable.pages), len(f.live.pages)) {
		p := f.stable.page(i)
		if f.dirty[i] {
			p = luck.mix(p, f.live.page(i))
		}
		if p != nil && int64(i)*pageSize < left.stable.size {
			left.stable.set(i, p)
		}
	}
	if rest := left.stable.size % pageSize; rest > 0 {
		last := int(left.stable.size / pageSize)
		if p := left.stable.page(last); p != nil {
			cut := new(page)
			copy(cut[:rest], p[:rest])
			left.stable.set(last, cut)
		}
	}
	left.live = content{append([]*page(nil), left.stable.pages...), left.stable.size}
	return left
}

// luck decides what survives a power loss of what was not flushed. nil: nothing.
type luck struct {
	*rand.Rand
	share float64 // of what was not flushed, that survives
}

func (l *luck) keeps() bool { return l != nil && l.Float64() < l.share }

// mix returns a page with the sectors that survive: all of the old page, all of the new one, or some of each.
func (l *luck) mix(old, fresh *page) *page {
	switch {
	case l == nil:
		return old
	case l.IntN(4) > 0:
		if l.keeps() {
			return fresh
		}
		return old
	}
	torn := new(page)
	for at := 0; at < pageSize; at += sectorSize {
		from := old
		if l.keeps() {
			from = fresh
		}
		if from != nil {
			copy(torn[at:at+sectorSize], from[at:])
		}
	}
	return torn
}
