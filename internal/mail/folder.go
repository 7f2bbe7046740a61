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

// folder is a [Transport] that writes each message into a file, for trials. Send creates the folder.
type folder struct {
	path   string
	sender sender
	trace  func(string)
}

var _ Checker = folder{}

// Send writes the file under a temporary name and renames it, so that a program that looks for .eml files finds only
// complete ones.
func (f folder) Send(_ context.Context, m Message) error {
	msg, err := f.sender.compose(m)
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
			f.trace("written to " + name)
		}
	}
	if err != nil {
		return fmt.Errorf("mail: writing a message: %w", err)
	}
	return nil
}

// name returns the name of the file. Names sort by the time of sending. A message that is sent again gets another name.
func (folder) name(m Message) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(m.ID))
	return time.Now().UTC().Format("20060102-150405.000000") + "-" + id + ".eml"
}

// Check returns an error if the path exists and is not a folder.
func (f folder) Check(context.Context) error {
	stat, err := os.Stat(f.path)
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil && !stat.IsDir() {
		err = fmt.Errorf("%s is not a folder", f.path)
	}
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}
