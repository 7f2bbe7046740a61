package pdfium

// take returns an instance that has nothing to do, or nil.
func (r *Renderer) take() *instance {
	r.lock.Lock()
	defer r.lock.Unlock()
	last := len(r.idle) - 1
	if last < 0 {
		return nil
	}
	i := r.idle[last]
	r.idle = r.idle[:last]
	return i
}

// enter counts a caller in, whom Close waits for.
func (r *Renderer) enter() error {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.running.Add(1)
	return nil
}

// Close stops what is running, which ends with [ErrClosed], waits for it, and frees what the
// renderer holds.
func (r *Renderer) Close() error {
	r.lock.Lock()
	closed := r.closed
	r.closed = true
	r.lock.Unlock()
	if closed {
		return nil
	}
	r.end()
	r.running.Wait()
	for _, i := range r.idle {
		i.close()
	}
	r.idle = nil
	return r.engine.close()
}
