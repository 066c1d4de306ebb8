//go:build race || radpooldebug

package arena

import (
	"bytes"
	"reflect"
	"unsafe"
)

// poisonOctet fills the octets and numbers of released memory, poisonString its strings.
const (
	poisonOctet  = 0xDB
	poisonString = "arena: used after Release"
)

// poisonOf returns a T that nobody takes for a good one. Pointers of all kinds are nil in it, since the
// collector looks at them; bools are false, since they must be 0 or 1.
func poisonOf[T any]() *T {
	p := new(T)
	fill(reflect.TypeFor[T](), unsafe.Pointer(p))
	return p
}

func fill(t reflect.Type, p unsafe.Pointer) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			fill(f.Type, unsafe.Add(p, f.Offset))
		}
	case reflect.Array:
		for i := range t.Len() {
			fill(t.Elem(), unsafe.Add(p, uintptr(i)*t.Elem().Size()))
		}
	case reflect.String:
		*(*string)(p) = poisonString
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		octets := unsafe.Slice((*byte)(p), t.Size())
		for i := range octets {
			octets[i] = poisonOctet
		}
	default: // stays zero
	}
}

// overwrite sets every element of s to *v. It clears first, so that padding is zero too.
func overwrite[T any](s []T, v *T) {
	if len(s) == 0 {
		return
	}
	clear(s)
	s[0] = *v
	for done := 1; done < len(s); done *= 2 {
		copy(s[done:], s[:done])
	}
}

// firstOther returns the index of the first element that is not *v octet for octet, or -1.
func firstOther[T any](s []T, v *T) int {
	size := int(unsafe.Sizeof(*v))
	if len(s) == 0 || size == 0 {
		return -1
	}
	want := octetsOf(unsafe.Slice(v, 1), size)
	got := octetsOf(s, size)
	// All elements are alike when each octet equals the one that is an element further on.
	if bytes.Equal(got[:size], want) && bytes.Equal(got[size:], got[:len(got)-size]) {
		return -1
	}
	for i := range s {
		if !bytes.Equal(got[i*size:(i+1)*size], want) {
			return i
		}
	}
	return -1
}

func octetsOf[T any](s []T, size int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size)
}
