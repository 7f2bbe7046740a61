package pdfium

// MaxDrawings is for tests.
const MaxDrawings = maxDrawings

// Idle says how often each instance that has nothing to do has been used.
func (r *Renderer) Idle() (drawn []int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, i := range r.idle {
		drawn = append(drawn, i.drawn)
	}
	return drawn
}
