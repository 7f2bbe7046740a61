package pdfium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/klippa-app/go-pdfium"
	"github.com/tetratelabs/wazero/api"
)

const (
	// An instance is used again this often at most, and while its memory, which never
	// shrinks, is no more than this. A new one takes a few milliseconds and 18 MiB.
	maxUses       = 100
	maxIdleMemory = 32 << 20
)

// instance is a PDFium with memory of its own. One goroutine at a time uses it.
//
// Of go-pdfium, it uses what makes it and what reads files. The rest is called in its module,
// because the package's own calls cannot be given a context, share the callbacks of forms with
// all other instances, and have no white paper.
type instance struct {
	pool   pdfium.Pdfium
	files  fileReaders
	module api.Module
	used   int // how often
}

// fileReaders is go-pdfium's way from the sandbox to the files that are being read.
type fileReaders interface {
	CreateFileAccessReader(size int64, r io.ReadSeeker) (access *uint64, number *uint32, err error)
	io.Closer // of those that were created
}

func newInstance(ctx context.Context, pool pdfium.Pool) (*instance, error) {
	made, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("pdfium: a new instance: %w", err)
	}
	i := &instance{pool: made}
	inside := made.GetImplementation()
	i.files, _ = inside.(fileReaders)
	// The module is in an exported field of a type that has no name outside of go-pdfium.
	if v := reflect.Indirect(reflect.ValueOf(inside)); v.Kind() == reflect.Struct {
		if field := v.FieldByName("Module"); field.IsValid() {
			i.module, _ = field.Interface().(api.Module)
		}
	}
	if i.files == nil || i.module == nil {
		made.Kill()
		return nil, errors.New("pdfium: go-pdfium is of another version than the one in go.mod")
	}
	return i, nil
}

// spent reports whether the instance should not be used again.
func (i *instance) spent() bool {
	return i.used >= maxUses || i.module.Memory().Size() > maxIdleMemory
}

// close frees the instance. What it could still say is of no use.
func (i *instance) close() {
	i.files.Close()
	i.pool.Kill()
}

// calls are calls of PDFium that follow each other. After the first that fails there are no
// more, and all of them return 0.
type calls struct {
	context.Context
	module    api.Module
	functions map[string]api.Function // that were called: each has a stack of its own
	err       error
}

func newCalls(ctx context.Context, i *instance) *calls {
	return &calls{Context: ctx, module: i.module, functions: make(map[string]api.Function)}
}

// do calls a function of PDFium and returns what that returns.
func (c *calls) do(function string, args ...uint64) uint64 {
	if c.err != nil {
		return 0
	}
	f := c.functions[function]
	if f == nil {
		if f = c.module.ExportedFunction(function); f == nil {
			c.err = fmt.Errorf("pdfium: there is no %s", function)
			return 0
		}
		c.functions[function] = f
	}
	results, err := f.Call(c, args...)
	if err != nil {
		c.err = fmt.Errorf("pdfium: %s: %w", function, err)
		return 0
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

// need is do where 0 says that it failed.
func (c *calls) need(function string, args ...uint64) uint64 {
	result := c.do(function, args...)
	if result == 0 && c.err == nil {
		c.err = fmt.Errorf("pdfium: %s failed, with error %d", function, c.do("FPDF_GetLastError"))
	}
	return result
}

// allocate returns where so many bytes of the instance's memory are.
func (c *calls) allocate(size int) uint64 { return c.need("malloc", uint64(size)) }

// memory returns a part of the instance's memory, as long as that does not grow.
func (c *calls) memory(at uint64, size int) []byte {
	if c.err != nil {
		return nil
	}
	view, ok := c.module.Memory().Read(uint32(at), uint32(size))
	if !ok {
		c.err = errors.New("pdfium: memory of an instance is out of bounds")
	}
	return view
}
