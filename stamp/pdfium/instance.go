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

// maxUses is how often an instance is used. A new instance takes a few milliseconds.
const maxUses = 100

// instance is a PDFium with its own memory. One goroutine at a time uses it.
//
// It uses go-pdfium to make the instance and to read files. It calls the functions of the
// WebAssembly module directly, because those of go-pdfium accept no context, share the form
// callbacks with all other instances, and do not draw on white.
type instance struct {
	pool   pdfium.Pdfium
	files  fileReaders
	module reflect.Value // of go-pdfium, with the method ExportedFunction
	memory *linearMemory
	used   int // number of uses
}

// fileReaders is the part of go-pdfium that gives the sandbox access to a document.
type fileReaders interface {
	CreateFileAccessReader(size int64, r io.ReadSeeker) (access *uint64, number *uint32, err error)
	io.Closer // closes the readers
}

// newInstance makes an instance. ctx limits how long that takes.
func (r *Renderer) newInstance(ctx context.Context) (*instance, error) {
	e := &r.engine
	e.making.Lock()
	defer e.making.Unlock()
	memory, err := r.budget.newMemory(ctx)
	if err != nil {
		return nil, err
	}
	e.next = memory
	made, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		memory.release()
		return nil, fmt.Errorf("pdfium: a new instance: %w", err)
	}
	i := &instance{pool: made, memory: memory}
	inside := made.GetImplementation()
	i.files, _ = inside.(fileReaders)
	// The module is in an exported field of a type that has no name outside of go-pdfium.
	if v := reflect.Indirect(reflect.ValueOf(inside)); v.Kind() == reflect.Struct {
		if field := v.FieldByName("Module"); field.IsValid() {
			i.module = field.MethodByName("ExportedFunction")
		}
	}
	if i.files == nil || !i.module.IsValid() || i.function("malloc") == nil || e.next != nil {
		i.close()
		return nil, errors.New("pdfium: go-pdfium has another version than in go.mod")
	}
	return i, nil
}

// function returns a function of PDFium, or nil.
func (i *instance) function(name string) api.Function {
	f, _ := i.module.Call([]reflect.Value{reflect.ValueOf(name)})[0].Interface().(api.Function)
	return f
}

// isSpent reports whether the instance must not be used again: it has been used often, or its memory, which never
// shrinks, has grown.
func (i *instance) isSpent() bool { return i.used >= maxUses || i.memory.size > keptMemory }

// close frees the instance. It ignores errors, because the instance is not used again. Closing the module comes first:
// then nothing runs in it when the readers are closed, and when its memory is released.
func (i *instance) close() {
	i.pool.Kill()
	if i.files != nil {
		i.files.Close()
	}
	i.memory.release()
}

// calls are consecutive calls of PDFium. After the first failure they call nothing and return 0.
type calls struct {
	context.Context
	instance  *instance
	functions map[string]api.Function // the functions called so far; each has its own stack
	err       error
}

func newCalls(ctx context.Context, i *instance) *calls {
	return &calls{Context: ctx, instance: i, functions: make(map[string]api.Function)}
}

// do calls a function of PDFium and returns its result.
func (c *calls) do(function string, args ...uint64) uint64 {
	if c.err != nil {
		return 0
	}
	f := c.functions[function]
	if f == nil {
		if f = c.instance.function(function); f == nil {
			c.err = fmt.Errorf("pdfium: the module has no function %s", function)
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

// doNonZero is do for functions whose result 0 means failure.
func (c *calls) doNonZero(function string, args ...uint64) uint64 {
	result := c.do(function, args...)
	if result == 0 && c.err == nil {
		c.err = fmt.Errorf("pdfium: %s failed, with error %d", function, c.do("FPDF_GetLastError"))
	}
	return result
}

// allocate allocates memory of the instance and returns its address.
func (c *calls) allocate(size int) uint64 { return c.doNonZero("malloc", uint64(size)) }

// memory returns a part of the instance's memory. It is valid until the memory grows.
func (c *calls) memory(at uint64, size int) []byte {
	if c.err != nil {
		return nil
	}
	area := c.instance.memory.area[:c.instance.memory.size]
	if at > uint64(len(area)) || uint64(size) > uint64(len(area))-at {
		c.err = errors.New("pdfium: memory of an instance is out of bounds")
		return nil
	}
	return area[at : at+uint64(size)]
}
