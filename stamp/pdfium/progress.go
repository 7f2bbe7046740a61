package pdfium

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// tellAfter is how long a caller waits without being told why: ten times as long as a renderer
// takes that was compiled before.
const tellAfter = time.Second

// WarmTelling is [Renderer.Warm] for programs with a log or a terminal: where it takes long, it calls tell with what it
// is doing, and with what it took. Errors are those of Warm.
func (r *Renderer) WarmTelling(ctx context.Context, tell func(text string)) error {
	began := time.Now()
	soon, cancel := context.WithTimeout(ctx, tellAfter)
	defer cancel()
	cold, err := r.Warm(soon)
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if late { // which has not stopped it
		tell(r.compiling())
		cold, err = r.Warm(ctx)
	}
	if err != nil {
		return fmt.Errorf("the page renderer: %w", err)
	}
	if late && cold {
		tell(fmt.Sprintf("compiled the page renderer in %v", time.Since(began).Round(100*time.Millisecond)) + r.notKept())
	}
	return nil
}

func (r *Renderer) compiling() string {
	if r.options.Cache == "" {
		return "compiling the page renderer"
	}
	return "compiling the page renderer, to be kept for the next time"
}

// notKept says why compiled code is not kept, where there is a folder for it.
func (r *Renderer) notKept() string {
	if r.options.Cache == "" || r.Kept() {
		return ""
	}
	return ", which was not kept: " + r.options.Cache + " has to be a folder that this user, and nobody else, can write to"
}
