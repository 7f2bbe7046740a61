package mail

import (
	"context"
	"fmt"
	"os"
)

// Checker is a [Transport] that can say whether messages can be sent, without sending one. Both are.
type Checker interface {
	// Check goes as far as Send does before it names a sender. A *[Failure] of a server.
	Check(ctx context.Context) error
}

var (
	_ Checker = server{}
	_ Checker = folder{}
)

// Check connects, protects the connection and logs in, as the options say.
func (s server) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	c.end()
	return nil
}

// Check says whether there is a folder, or nothing in its place.
func (f folder) Check(context.Context) error {
	stat, err := os.Stat(f.path)
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil && !stat.IsDir() {
		err = fmt.Errorf("%s is no folder", f.path)
	}
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}
