package mail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// folder writes messages into files, for trials. It is made when it is needed.
type folder struct {
	path   string
	sender sender
	told   func(string)
}

var _ Transport = folder{}

// Send writes the file under another name first, so that whoever looks for .eml files finds
// whole ones.
func (f folder) Send(_ context.Context, m Message) error {
	msg, err := f.sender.message(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	file, err := os.CreateTemp(f.path, ".mail-*")
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = msg.WriteTo(file)
	if err = errors.Join(err, file.Close()); err == nil {
		name := filepath.Join(f.path, f.name(m))
		if err = os.Rename(file.Name(), name); err == nil {
			f.told("written to " + name)
		}
	}
	if err != nil {
		return fmt.Errorf("mail: writing a message: %w", err)
	}
	return nil
}

// name sorts as the messages were sent; one that is sent again has another.
func (folder) name(m Message) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(m.ID))
	return time.Now().UTC().Format("20060102-150405.000000") + "-" + id + ".eml"
}
